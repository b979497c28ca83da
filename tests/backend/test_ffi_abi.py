"""src/abi/xla_ffi.h has the layout of the header that jaxlib installs, which may be of an older version.

usage: test_ffi_abi.py SOURCE_DIR [unittest arguments]     with a Python that has jaxlib
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import jaxlib

SOURCE = os.path.abspath(sys.argv.pop(1))
REAL = os.path.join(os.path.dirname(jaxlib.__file__), "include")
OTHER_NAMES = {  # ours: theirs
    ("XLA_FFI_State_Args", None): ("XLA_FFI_State_Set_Args", None),
    ("XLA_FFI_Handler_Bundle", "stages"): ("XLA_FFI_Handler_Bundle", "instantiate"),
}
SINCE = {  # ours: the first version that has it
    ("XLA_FFI_Error_GetMessage_Args", "errc"): 4, ("XLA_FFI_Api", "XLA_FFI_FindExtension"): 4, ("XLA_FFI_FindExtension_Args", None): 4,
    ("XLA_FFI_Api", "XLA_FFI_CustomOptions_Get"): 5, ("XLA_FFI_CustomOptions_Get_Args", None): 5,
}
# 0.4 has one more stage in a bundle, which the backend does not call.
GROWN_4 = {("XLA_FFI_Handler_Bundle", None), ("XLA_FFI_Handler_Register_Args", None), ("XLA_FFI_Handler_Register_Args", "traits")}
OTHER_NAMES_4 = {
    ("XLA_FFI_Extension_Base", None): ("XLA_FFI_InternalExtension", None),
    ("XLA_FFI_Error_GetMessage_Args", None): ("XLA_FFI_Error_GetDetails_Args", None),
    ("XLA_FFI_ExecutionContext_Get_Args", None): ("XLA_FFI_InvokeContext_Get_Args", None),
    ("XLA_FFI_FindExtension_Args", None): ("XLA_FFI_InvokeContext_FindExtension_Args", None),
    ("XLA_FFI_Api", "XLA_FFI_Error_GetMessage"): ("XLA_FFI_Api", "XLA_FFI_Error_GetDetails"),
    ("XLA_FFI_Api", "XLA_FFI_ExecutionContext_Get"): ("XLA_FFI_Api", "XLA_FFI_InvokeContext_Get"),
    ("XLA_FFI_Api", "XLA_FFI_FindExtension"): ("XLA_FFI_Api", "XLA_FFI_InvokeContext_FindExtension"),
}


def structs():
    """Name of each struct of our header, and its fields."""
    with open(os.path.join(SOURCE, "src/abi/xla_ffi.h")) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S).replace("XLA_FFI_HEAD;", "size_t struct_size; XLA_FFI_Extension_Base *extension_start;")
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.S):
        yield name, fields(body)
    yield "XLA_FFI_Api", fields(re.search(r"struct XLA_FFI_Api \{(.*?)\n\};", text, re.S)[1])


def fields(body):
    for declaration in filter(str.strip, body.split(";")):
        function = re.search(r"\(\*(\w+)\)", declaration)
        yield from [function[1]] if function else [re.search(r"(\w+)(\[\w+\])?\s*$", part)[1] for part in declaration.split(",")]


def probe(includes, header, lines):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w") as f:
            f.write(f'#include "{header}"\n#include <stdio.h>\nint main(void)\n{{\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
        subprocess.run(["cc", "-std=c17", "-I", includes, "-o", f"{folder}/probe", source], check=True)
        return subprocess.run([f"{folder}/probe"], check=True, capture_output=True, text=True).stdout.splitlines()


def minor():
    return int(probe(REAL, "xla/ffi/api/c_api.h", ['printf("%d\\n", XLA_FFI_API_MINOR);'])[0])


class Layout(unittest.TestCase):
    def test_every_field_is_where_the_real_header_has_it(self):
        ours, theirs, names = [], [], []
        version = minor()
        other = OTHER_NAMES if version < 4 else OTHER_NAMES | OTHER_NAMES_4
        newer = {item for item, since in SINCE.items() if since > version}
        left_out = newer | {(name, None) for name, _ in newer} | (GROWN_4 if version >= 4 else set())
        for name, members in structs():
            if (name, None) in newer:
                continue
            real = other.get((name, None), (name, None))[0]
            if (name, None) not in left_out:
                ours.append(f'printf("%zu\\n", sizeof({name}));')
                theirs.append(f'printf("%zu\\n", sizeof({real}));')
                names.append(name)
            for member in members:
                if (name, member) in left_out:
                    continue
                real_member = other.get((name, member), (None, member))[1]
                ours.append(f'printf("%zu\\n", offsetof({name}, {member}));')
                theirs.append(f'printf("%zu\\n", offsetof({real}, {real_member}));')
                names.append(f"{name}.{member}")
        self.assertGreater(len(names), 120)
        got, want = probe(os.path.join(SOURCE, "src"), "abi/xla_ffi.h", ours), probe(REAL, "xla/ffi/api/c_api.h", theirs)
        self.assertEqual(dict(zip(names, got)), dict(zip(names, want)))

    def test_sizes_that_callers_write_and_numbers_agree(self):
        names = ["XLA_FFI_CallFrame_STRUCT_SIZE", "XLA_FFI_Buffer_STRUCT_SIZE", "XLA_FFI_Args_STRUCT_SIZE", "XLA_FFI_Attrs_STRUCT_SIZE",
                 "XLA_FFI_Metadata_STRUCT_SIZE", "XLA_FFI_Metadata_Extension_STRUCT_SIZE", "XLA_FFI_AttrType_ARRAY",
                 "XLA_FFI_AttrType_DICTIONARY", "XLA_FFI_AttrType_SCALAR", "XLA_FFI_AttrType_STRING", "XLA_FFI_ExecutionStage_EXECUTE",
                 "XLA_FFI_Extension_Metadata", "XLA_FFI_API_MAJOR"]
        if minor() == 5:
            names += ["XLA_FFI_Api_STRUCT_SIZE", "XLA_FFI_API_MINOR"]
        lines = [f'printf("%d\\n", (int){name});' for name in names]
        got, want = probe(os.path.join(SOURCE, "src"), "abi/xla_ffi.h", lines), probe(REAL, "xla/ffi/api/c_api.h", lines)
        self.assertEqual(dict(zip(names, got)), dict(zip(names, want)))


if __name__ == "__main__":
    unittest.main()
