/* dlsym, in assembly because of its return address: glibc's dlsym reads it to answer RTLD_NEXT and
 * RTLD_DEFAULT, so every call that is not for GetPjrtApi is passed on by a jump, with the caller's
 * registers and stack as they were. Only the name is looked at, and no byte beyond its end. */

/* "GetPjrtApi" */
#define GET_PJRT_API 0x47, 0x65, 0x74, 0x50, 0x6a, 0x72, 0x74, 0x41, 0x70, 0x69

#if defined(__x86_64__)

    .text
    .globl dlsym
    .type dlsym, @function
    .p2align 4
dlsym:
    .cfi_startproc
    endbr64
    testq %rsi, %rsi
    je .Lpass
    .set .Lat, 0
    .irp c, GET_PJRT_API
    cmpb $\c, .Lat(%rsi)
    jne .Lpass
    .set .Lat, .Lat + 1
    .endr
    cmpb $0, .Lat(%rsi)
    jne .Lpass
    cmpq $-1, %rdi                      /* RTLD_NEXT */
    je .Lpass
    movq (%rsp), %rdx                   /* the caller */
    jmp stet_entry_preload_lookup
.Lpass:
    movq stet_preload_real_dlsym(%rip), %rax
    testq %rax, %rax
    je .Lfind
    jmp *%rax
.Lfind:
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call stet_preload_find_dlsym
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size dlsym, . - dlsym

#elif defined(__aarch64__)

    .text
    .globl dlsym
    .type dlsym, %function
    .p2align 4
dlsym:
    .cfi_startproc
    hint #34                            /* bti c */
    cbz x1, .Lpass
    .set .Lat, 0
    .irp c, GET_PJRT_API
    ldrb w9, [x1, #.Lat]
    cmp w9, #\c
    b.ne .Lpass
    .set .Lat, .Lat + 1
    .endr
    ldrb w9, [x1, #.Lat]
    cbnz w9, .Lpass
    cmn x0, #1                          /* RTLD_NEXT */
    b.eq .Lpass
    mov x2, x30                         /* the caller */
    b stet_entry_preload_lookup
.Lpass:
    adrp x9, stet_preload_real_dlsym
    ldr x16, [x9, #:lo12:stet_preload_real_dlsym]
    cbz x16, .Lfind
    br x16
.Lfind:
    stp x29, x30, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp x0, x1, [sp, #16]
    mov x29, sp
    bl stet_preload_find_dlsym
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_adjust_cfa_offset -32
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size dlsym, . - dlsym

#else
#error "libstet.so has no dlsym for this machine; plugin mode (libstet_plugin.so) needs none"
#endif

    .section .note.GNU-stack, "", %progbits
