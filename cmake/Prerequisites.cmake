# What a build needs, and one message that names all of it that is missing.

# Call it before the first language is enabled: CMake's own words for a missing compiler do not help.
macro(stet_need_compiler)
  if(NOT CMAKE_C_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE)
    string(REGEX REPLACE " .*" "" named "$ENV{CC}")
    find_program(STET_CC NAMES ${named} cc gcc clang)
    if(NOT STET_CC)
      message(FATAL_ERROR "Stet is written in C, and this machine has no C compiler (cc, gcc or clang).\n"
        "Debian, Ubuntu: apt-get install gcc libc6-dev make\nFedora, Alma: dnf install gcc make\n"
        "Or install a wheel, which needs no compiler: docs/install.md")
    endif()
    if(SKBUILD AND NOT STET_CC MATCHES "/${named}$") # CC is the compiler that made this Python, and not here
      set(CMAKE_C_COMPILER ${STET_CC})
    endif()
  endif()
endmacro()

set(STET_LIBRARIES "" CACHE PATH "where tools/build-libraries.sh has put the libraries; empty: the system's")
option(STET_FETCH_LIBRARIES "fetch and build the libraries when the system lacks one" OFF)

# VARIABLE|archive|header|Debian package. All are linked statically: the layer must need libc alone, and a wheel
# must run where these are not installed. libcurl is opened at run time and needs its header only, as xxHash does.
set(stet_libraries
  "ZSTD_STATIC|libzstd.a|zstd.h|libzstd-dev"
  "ZLIB_STATIC|libz.a|zlib.h|zlib1g-dev"
  "JANSSON_STATIC|libjansson.a|jansson.h|libjansson-dev"
  "HIREDIS_STATIC|libhiredis.a|hiredis/hiredis.h|libhiredis-dev"
  "SQLITE_STATIC|libsqlite3.a|sqlite3.h|libsqlite3-dev"
  "NCURSES_STATIC|libncursesw.a|ncurses.h|libncurses-dev"
  "TINFO_STATIC|libtinfo.a|ncurses.h|libncurses-dev"
  "SODIUM_STATIC|libsodium.a|sodium.h|libsodium-dev"
  "XXHASH_HEADER||xxhash.h|libxxhash-dev"
  "CURL_HEADER||curl/curl.h|libcurl4-openssl-dev")

# Sets `missing` to the Debian packages of what is in neither the system nor STET_LIBRARIES.
macro(stet_find_libraries)
  set(missing "")
  set(only "")
  if(STET_LIBRARIES)
    set(only PATHS ${STET_LIBRARIES} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  endif()
  foreach(line ${stet_libraries})
    string(REPLACE "|" ";" line "${line}")
    list(GET line 0 variable)
    list(GET line 1 archive)
    list(GET line 2 header)
    list(GET line 3 package)
    unset(${variable}_AT CACHE)
    find_path(${variable}_AT ${header} ${only} PATH_SUFFIXES include)
    if(archive)
      unset(${variable} CACHE)
      find_library(${variable} ${archive} ${only} PATH_SUFFIXES lib)
    else()
      set(${variable} ${${variable}_AT})
    endif()
    if(NOT ${variable}_AT OR NOT ${variable})
      list(APPEND missing ${package})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES missing)
endmacro()

# A macro: what it finds is for the whole build.
macro(stet_need_libraries)
  stet_find_libraries()
  if(missing AND STET_FETCH_LIBRARIES AND NOT STET_LIBRARIES)
    list(JOIN missing " " names)
    message(STATUS "The system lacks ${names}: building the libraries of tools/third-party.txt instead (minutes)")
    set(STET_LIBRARIES ${CMAKE_BINARY_DIR}/libraries)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} CMAKE=${CMAKE_COMMAND} NINJA=${CMAKE_MAKE_PROGRAM}
      ${CMAKE_SOURCE_DIR}/tools/build-libraries.sh ${STET_LIBRARIES} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "Stet's libraries could not be built; the reason is above.\n"
        "Debian, Ubuntu have them: apt-get install ${names}\nOr install a wheel, which needs none: docs/install.md")
    endif()
    stet_find_libraries()
  endif()
  if(missing)
    list(JOIN missing " " names)
    message(FATAL_ERROR "Stet links these libraries statically, and they are not here (by their Debian names):\n"
      "  ${names}\nDebian, Ubuntu: apt-get install ${names}\n"
      "Elsewhere: install a wheel, or the source distribution, which carries them: docs/install.md")
  endif()
  if(STET_LIBRARIES)
    include_directories(SYSTEM ${STET_LIBRARIES}/include)
  endif()
endmacro()
