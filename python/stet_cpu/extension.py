"""Stet's own extension of the backend's PJRT table (src/abi/stet_ext.h), by ctypes."""

import ctypes

EXTENSION_TYPE = 0x53544554  # "STET"
STAGES = ("instantiate", "prepare", "initialize", "execute")

_register_function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p))
_set_fallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_register_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)


class Base(ctypes.Structure):
    pass


Base._fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(Base))]


class Own(ctypes.Structure):
    _fields_ = [("base", Base), ("register_function", _register_function), ("register_type", _register_type),
                ("set_fallback", _set_fallback)]


class Table(ctypes.Structure):
    """The first fields of PJRT_Api, and the error functions that follow them."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("extensions", ctypes.POINTER(Base)),
                ("version", ctypes.c_char * 24), ("error_destroy", ctypes.c_void_p), ("error_message", ctypes.c_void_p)]


class ErrorArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("error", ctypes.c_void_p),
                ("message", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]


def pointer_of(capsule):
    """The address in a PyCapsule, whatever its name is; None for None."""
    if capsule is None:
        return None
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name(capsule))


class Backend:
    """The backend behind a table. Raises LookupError if the table is not of this backend."""

    def __init__(self, table):
        self.table = ctypes.cast(table, ctypes.POINTER(Table)).contents
        link = self.table.extensions
        while link and link.contents.type != EXTENSION_TYPE:
            link = link.contents.next
        if not link or link.contents.struct_size < ctypes.sizeof(Own):
            raise LookupError("the plugin is not Stet's CPU backend, or is another version of it")
        self.own = ctypes.cast(link, ctypes.POINTER(Own)).contents

    def check(self, error):
        """Raises what an error says, and frees it."""
        if not error:
            return
        args = ErrorArgs(ctypes.sizeof(ErrorArgs), None, error)
        ctypes.CFUNCTYPE(None, ctypes.POINTER(ErrorArgs))(self.table.error_message)(args)
        text = ctypes.string_at(args.message, args.size).decode(errors="replace")
        args = ErrorArgs(ErrorArgs.message.offset, None, error)
        ctypes.CFUNCTYPE(None, ctypes.POINTER(ErrorArgs))(self.table.error_destroy)(args)
        raise ValueError(text)

    def register_function(self, name, stages):
        """`stages`: addresses by the names of STAGES; only `execute` is required."""
        text = name.encode()
        list_ = (ctypes.c_void_p * len(STAGES))(*(stages.get(stage) for stage in STAGES))
        self.check(self.own.register_function(text, len(text), list_))

    def register_type(self, name, type_id, info):
        """`type_id`: the address of the library's id of the type, which is set if it is 0."""
        text = name.encode()
        self.check(self.own.register_type(text, len(text), ctypes.cast(type_id, ctypes.POINTER(ctypes.c_int64)), info))

    def set_fallback(self, functions):
        """fallback.Functions, which must stay alive; or None."""
        self.functions = functions
        self.own.set_fallback(ctypes.byref(functions) if functions else None)
