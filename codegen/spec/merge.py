"""Joins facts, hand-written semantics and a profile into the spec.

In: `Facts` under upstream names, the command rules, a `Profile` and our sentences. Out: a
`Spec` under public names, which `xiokv.codegen.spec.validate` has proved.
"""

from __future__ import annotations

from collections.abc import Mapping

from xiokv.codegen import facts as upstream
from xiokv.codegen.errors import Problems, SourceError, XiokvError
from xiokv.codegen.facts import Facts
from xiokv.codegen.semantics.commands import CommandRules, CommandSet
from xiokv.codegen.semantics.exec import ExecRules
from xiokv.codegen.spec import names
from xiokv.codegen.spec.briefs import Briefs
from xiokv.codegen.spec.identity import identify
from xiokv.codegen.spec.model import (
    Command,
    Operation,
    Option,
    Profile,
    Provenance,
    PublicConstant,
    PublicEnum,
    PublicEnumerator,
    PublicRecord,
    SemanticField,
    Spec,
)
from xiokv.codegen.spec.placement import used_fields, with_semantics
from xiokv.codegen.spec.records import dependency_order, rename
from xiokv.codegen.spec.validate import validate
from xiokv.codegen.spec.vendor import exec_command, exec_constants, with_exec


def merge(
    facts: Facts,
    rules: CommandSet,
    profile: Profile,
    docs: Mapping[str, str],
    provenance: Provenance,
    facts_sha256: str,
    vendor: ExecRules | None = None,
) -> Spec:
    """Return the validated spec; every fault found is reported at once.

    `vendor` adds the command Exec.
    """
    briefs = Briefs(docs)
    constants = tuple(_constant(c, briefs) for c in facts.constants)
    enums = tuple(_enum(e, briefs) for e in facts.enums)
    commands = _commands(facts, rules, profile.fields, briefs)
    if vendor:
        constants = (*constants, *exec_constants(vendor))
        enums = with_exec(enums, vendor)
        commands = (*commands, exec_command(facts, rules, vendor, profile.exec_length))
    spec = Spec(
        constants=constants,
        enums=enums,
        records=tuple(_record(r, briefs) for r in dependency_order(facts.records)),
        commands=commands,
        operations=_operations(commands, rules),
        reserved_places=rules.reserved,
        profile=profile,
        provenance=provenance,
        identity=identify(facts_sha256, commands, profile),
    )
    validate(spec)
    return spec


def _constant(constant: upstream.Constant, briefs: Briefs) -> PublicConstant:
    name = names.macro(constant.name).full
    brief = briefs.value(name, constant.name, constant.value)
    return PublicConstant(name, constant.value, constant.name, brief)


def _enum(enum: upstream.Enum, briefs: Briefs) -> PublicEnum:
    name = names.tag(enum.name)
    return PublicEnum(
        name=name,
        python=names.python_enum(name),
        upstream=enum.name,
        enumerators=tuple(_enumerator(e, briefs) for e in enum.enumerators),
        brief=briefs.tag(name, f"enum {enum.name}"),
    )


def _enumerator(enumerator: upstream.Enumerator, briefs: Briefs) -> PublicEnumerator:
    name = names.macro(enumerator.name)
    brief = briefs.value(name.full, enumerator.name, enumerator.value)
    return PublicEnumerator(name.full, name.short, enumerator.value, enumerator.name, brief)


def _record(record: upstream.Record, briefs: Briefs) -> PublicRecord:
    layout = rename(record)
    brief = briefs.record(layout.name, f"{record.kind} {record.name}", record.size)
    members = briefs.fields(layout.name, layout)
    return PublicRecord(layout.name, record.name, layout, brief, members)


def _commands(
    facts: Facts, rules: CommandSet, semantic: tuple[SemanticField, ...], briefs: Briefs
) -> tuple[Command, ...]:
    problems = Problems()
    commands = []
    for command in rules.commands:
        with problems.collect():
            commands.append(_command(facts, rules, command, semantic, briefs))
    problems.raise_if_any()
    return tuple(sorted(commands, key=lambda c: c.opcode))


def _command(
    facts: Facts,
    rules: CommandSet,
    command: CommandRules,
    semantic: tuple[SemanticField, ...],
    briefs: Briefs,
) -> Command:
    opcode = _opcode(facts, command)
    used = used_fields(facts, rules, command, opcode.value)
    return Command(
        name=command.name,
        opcode=opcode.value,
        symbol=names.macro(opcode.name).full,
        upstream=opcode.name,
        direction=command.direction,
        key_min=0 if command.key_optional else _limit(facts, rules.key.min),
        key_max=_limit(facts, rules.key.max),
        takes_value_size=command.value_size,
        options=_options(facts, command, briefs),
        fields=with_semantics(used, command.name, semantic, rules.reserved),
        brief=briefs.command(command.name),
    )


def _operations(commands: tuple[Command, ...], rules: CommandSet) -> tuple[Operation, ...]:
    """Return what programs may name: the commands, and those of vendors."""
    known = {c.name: Operation(c.name, c.opcode, c.brief) for c in commands}
    vendor = {v.name: Operation(v.name, v.opcode, v.brief) for v in rules.vendor}
    return tuple(sorted((vendor | known).values(), key=lambda operation: operation.opcode))


def _opcode(facts: Facts, command: CommandRules) -> upstream.Enumerator:
    known = {e.name: e for enum in facts.enums for e in enum.enumerators}
    for name in command.opcode:
        if name in known:
            return known[name]
    raise _absent(command, "opcode", command.opcode)


def _options(facts: Facts, command: CommandRules, briefs: Briefs) -> tuple[Option, ...]:
    if not command.options:
        return ()
    for tag in command.options:
        enum = facts.enum(tag)
        if enum is not None:
            options = [_option(_enumerator(e, briefs)) for e in enum.enumerators]
            return tuple(sorted(options, key=lambda option: option.mask))
    raise _absent(command, "options", command.options)


def _option(enumerator: PublicEnumerator) -> Option:
    return Option(
        name=enumerator.short.lower(),
        symbol=enumerator.name,
        mask=enumerator.value,
        upstream=enumerator.upstream,
        brief=enumerator.brief,
    )


def _limit(facts: Facts, name: str) -> int:
    constant = facts.constant(name)
    if constant is None:
        raise XiokvError(
            f"the spec file has no constant {name}; list include/spdk/nvme_kv.h in"
            " [upstream] files and run xiokv-gen fetch"
        )
    return constant.value


def _absent(command: CommandRules, what: str, tried: tuple[str, ...]) -> SourceError:
    return SourceError(
        command.origin,
        f"{what} of {command.name}: the spec file has none of {', '.join(tried)};"
        " fetch an SPDK that has the Key-Value definitions (first in v26.05)",
    )
