"""Declarations to laid out types: typedefs followed, enums sized, records placed.

`Types` answers by tag, and is the environment of constant expressions: array lengths,
bit widths and enumerators may name enumerators, ``sizeof`` and ``offsetof``.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.parse.constexpr import Value, evaluate
from xiokv.codegen.parse.declarations import Declarations, Declared
from xiokv.codegen.parse.layout import Packing, Unplaced, lay_out
from xiokv.codegen.parse.types import (
    INT,
    LONG,
    POINTER,
    UNSIGNED_INT,
    UNSIGNED_LONG,
    Array,
    Boolean,
    Compound,
    CType,
    EnumType,
    Integer,
    RecordKind,
    base_type,
)


class Types:
    """The types that a set of declarations defines, each laid out once."""

    def __init__(self, declarations: Declarations) -> None:
        """Answer from these declarations."""
        self._declarations = declarations
        self._done: dict[int, Compound | EnumType] = {}
        self._values: dict[int, dict[str, Value]] = {}
        self._busy: set[int] = set()

    def is_defined(self, tag: str) -> bool:
        """Tell whether a struct, union or enum of that tag has a body, sound or not."""
        return tag in self._declarations.tagged or tag in self._declarations.faults

    def tagged(self, tag: str) -> Compound | EnumType:
        """Return the type of a tag that `is_defined`."""
        return self._tag_type(self._definition(tag))

    def enumerators(self, tag: str) -> dict[str, Value]:
        """Return the enumerators of an enum that `is_defined`, in upstream order."""
        enum = self._definition(tag)
        if not isinstance(enum.node, c_ast.Enum):
            raise enum.error(f"{tag!r} is not an enum")
        return self._enumerators(enum)

    def type_of(self, declared: Declared) -> CType:
        """Return the type that a node of a declaration stands for."""
        node = declared.node
        if isinstance(node, c_ast.Struct | c_ast.Union | c_ast.Enum):
            return self._tag_type(declared)
        if isinstance(node, c_ast.IdentifierType):
            return self._named_type(declared)
        if isinstance(node, c_ast.PtrDecl):
            return POINTER
        if isinstance(node, c_ast.ArrayDecl):
            return Array(self.type_of(declared.at(node.type)), self._length(declared))
        if isinstance(node, c_ast.TypeDecl | c_ast.Typename | c_ast.Typedef | c_ast.Decl):
            return self.type_of(declared.at(node.type))
        raise declared.error("this type is not understood")

    # The environment of constant expressions.

    def enumerator(self, name: str) -> Value | None:
        """Return the value of an enumerator, also within its own enum."""
        enum = self._declarations.enumerators.get(name)
        if enum is None:
            return None
        if id(enum.node) in self._busy:
            return self._values[id(enum.node)].get(name)
        return self._enumerators(enum)[name]

    def size_of(self, expression: Declared) -> int:
        """Return the bytes of a type name."""
        if not isinstance(expression.node, c_ast.Typename):
            raise expression.error("sizeof of an expression is not supported, only of a type")
        return self.type_of(expression).size

    def offset_of(self, type_name: Declared, designator: Declared) -> int:
        """Return the byte offset of a member such as ``a.b[1].c``."""
        offset, _ = self._designated(self.type_of(type_name), designator)
        return offset

    def integer_type(self, type_name: Declared) -> Integer:
        """Return the integer type of a cast."""
        kind = self.type_of(type_name)
        if isinstance(kind, EnumType):
            return kind.underlying
        if not isinstance(kind, Integer):
            raise type_name.error("a constant can be cast to an integer type only")
        return kind

    def _definition(self, tag: str, user: Declared | None = None) -> Declared:
        if tag in self._declarations.tagged:
            return self._declarations.tagged[tag]
        if tag in self._declarations.faults:
            raise self._declarations.faults[tag]
        message = f"{tag!r} is used but defined in none of the given files"
        raise user.error(message) if user else XiokvError(message)

    def _tag_type(self, declared: Declared) -> Compound | EnumType:
        node = declared.node
        body = node.values if isinstance(node, c_ast.Enum) else node.decls
        if body is None:
            declared = self._definition(node.name, declared)
            node = declared.node
        key = id(node)
        if key not in self._done:
            if key in self._busy:
                raise declared.error(f"{node.name!r} contains itself")
            is_enum = isinstance(node, c_ast.Enum)
            self._done[key] = self._enum(declared) if is_enum else self._compound(declared)
        return self._done[key]

    def _named_type(self, declared: Declared) -> CType:
        names = declared.node.names
        base = base_type(names)
        if base is not None:
            return base
        name = names[0]
        if name in self._declarations.faults:
            raise self._declarations.faults[name]
        if name not in self._declarations.typedefs:
            raise declared.error(f"unknown type name {name!r}")
        return self.type_of(self._declarations.typedefs[name])

    def _length(self, array: Declared) -> int:
        if array.node.dim is None:
            return 0
        length = evaluate(array.at(array.node.dim), self).number
        if length < 0:
            raise array.error(f"array length {length} is below 0")
        return length

    def _compound(self, declared: Declared) -> Compound:
        node, chunk = declared.node, declared.chunk
        self._busy.add(id(node))
        members = list(self._members(declared))
        self._busy.discard(id(node))
        packing = Packing(chunk.pack, attribute=declared.index in chunk.packed)
        if packing.attribute and packing.limit > 1:
            raise declared.error("compilers differ on a packed record under #pragma pack")
        kind: RecordKind = "union" if isinstance(node, c_ast.Union) else "struct"
        return lay_out(kind, node.name or "", members, packing, declared.token)

    def _members(self, record: Declared) -> Iterator[Unplaced]:
        for node in record.node.decls:
            member = record.at(node)
            if not isinstance(node, c_ast.Decl):
                raise member.error("this member is not understood")
            yield self._member(member)

    def _member(self, member: Declared) -> Unplaced:
        node = member.node
        kind = self.type_of(member.at(node.type))
        bits = None
        if node.bitsize is not None:
            bits = self._bit_width(member.at(node.bitsize), kind, node.name)
        place = node if node.coord else node.type
        return Unplaced(node.name or "", kind, bits, member.at(place).token)

    def _bit_width(self, width: Declared, kind: CType, name: str | None) -> int:
        if not isinstance(kind, Integer | EnumType | Boolean):
            raise width.error("a bit-field needs an integer type")
        most = 1 if isinstance(kind, Boolean) else kind.size * 8
        bits = evaluate(width, self).number
        if not (0 if name is None else 1) <= bits <= most:
            raise width.error(f"width {bits} does not fit a type of {most} bits")
        return bits

    def _enum(self, declared: Declared) -> EnumType:
        values = self._enumerators(declared)
        numbers = [value.number for value in values.values()]
        candidates = (INT, LONG) if min(numbers) < 0 else (UNSIGNED_INT, UNSIGNED_LONG)
        for underlying in candidates:
            if all(Value(number, underlying).fits for number in numbers):
                return EnumType(declared.node.name or "", underlying)
        raise declared.error("no integer type holds every value of this enum")

    def _enumerators(self, enum: Declared) -> dict[str, Value]:
        key = id(enum.node)
        if key in self._values and key not in self._busy:
            return self._values[key]
        values: dict[str, Value] = {}
        self._values[key] = values
        self._busy.add(key)
        following = 0
        for enumerator in enum.node.values.enumerators:
            if enumerator.value is not None:
                following = evaluate(enum.at(enumerator.value), self).number
            values[enumerator.name] = _enumerator_value(following)
            following += 1
        self._busy.discard(key)
        return values

    def _designated(self, kind: CType, designator: Declared) -> tuple[int, CType]:
        node = designator.node
        if isinstance(node, c_ast.StructRef):
            offset, outer = self._designated(kind, designator.at(node.name))
            inner, member = self._designated(outer, designator.at(node.field))
            return offset + inner, member
        if isinstance(node, c_ast.ArrayRef):
            offset, array = self._designated(kind, designator.at(node.name))
            if not isinstance(array, Array):
                raise designator.error("only an array can be indexed")
            index = evaluate(designator.at(node.subscript), self).number
            return offset + index * array.element.size, array.element
        found = kind.find(node.name) if isinstance(kind, Compound) else None
        if found is None or found[1].bitfield:
            raise designator.error(f"offsetof: {node.name!r} is no member with an address")
        return found[0] // 8, found[1].type


def _enumerator_value(number: int) -> Value:
    """Give an enumerator the first type that holds it, as GCC does."""
    for kind in (INT, UNSIGNED_INT, LONG):
        if Value(number, kind).fits:
            return Value(number, kind)
    return Value(number, UNSIGNED_LONG)
