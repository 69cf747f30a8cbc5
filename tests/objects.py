"""What is in the objects of the library, which no test that runs can see.

    objects.py [--llvm-objdump PROGRAM] FOLDER OBJECT... [FOLDER OBJECT...]...

FOLDER says what OBJECTs are from: core is all code that runs on any CPU, avx2, avx512 and
neon are src/avx2 and so on. Fails, and says where, if an object

- has an instruction that the flags of its folder do not allow. x86-64: by the CPUID bits
  that each instruction has in Intel's manual. AArch64: by a disassembler that knows ARMv8.0-A
  with its floats and vectors and nothing else, which --llvm-objdump names. Other machines:
  not looked at;
- has float arithmetic and is from core, which is the definition of every value;
- needs a function that is not on a short list: nothing allocates, prints, sets errno or
  converts floats behind our back;
- has data that can be written and is not on a short list, or code to run at start-up;
- asks for a stack that can be executed.
"""

import re
import subprocess
import sys

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

# x86-64 as it began, and what its later NOPs became: MULTIBYTENOP, CET_IBT is ENDBR64.
BASELINE = set(
    "INTEL8086 INTEL186 INTEL286 INTEL386 INTEL486 CPUID CMOV X64 SSE SSE2 MULTIBYTENOP "
    "CET_IBT".split()
)
AVX2 = BASELINE | {"AVX", "AVX2", "F16C"}
X86_FEATURES = {
    "core": BASELINE,
    "avx2": AVX2,
    "avx512": AVX2 | {"AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL"},
}

X86_FLOAT = re.compile(
    r"(ADD|SUB|MUL|DIV|SQRT|RCP|RSQRT|MIN|MAX|CMP|U?COMI|ADDSUB|HADD|HSUB|ROUND)[SP][SD]$|CVT"
)
ARM_FLOAT = re.compile(r"(?!fmov)f|[su]cvtf")

FUNCTIONS = re.compile(
    r"taper_\w+"
    r"|getenv|memcpy|memmove|memset|strcmp"
    r"|pthread_atfork|__register_atfork|getpid"
    r"|(GOMP|omp|__kmpc)_\w+"  # OpenMP
    r"|__(memcpy|memmove|memset)_chk|__stack_chk_fail|__stack_chk_guard"  # hardened builds
    r"|__aarch64_(cas|swp|ldadd|ldclr|ldset|ldeor)\d+_\w+"  # atomics, in libgcc
    r"|_GLOBAL_OFFSET_TABLE_"
)

# The chosen table; threads, thresholds, and what a fork left of them.
VARIABLES = set(
    "taper_chosen taper_large_bytes thresholds max_threads lent_run lent_context forked "
    "first_process".split()
)


def names(numbers):
    """What a module of constants calls each of them."""
    return {number: name for name, number in vars(numbers).items() if type(number) is int}


def x86_instructions(folder, name, code):
    """What is wrong with the instructions in `code`, and how many there are."""
    import iced_x86

    features, mnemonics = names(iced_x86.CpuidFeature), names(iced_x86.Mnemonic)
    allowed = set(X86_FEATURES[folder])
    if name.endswith("/cpu.c.o"):
        allowed.add("XSAVE")  # XGETBV, after CPUID said that it exists
    wrong, count = set(), 0
    for instruction in iced_x86.Decoder(64, code):
        count += 1
        mnemonic = mnemonics[instruction.mnemonic]
        needs = {features[feature] for feature in instruction.cpuid_features()}
        if instruction.is_invalid:
            wrong.add("bytes that are no instruction")
        elif mnemonic == "TZCNT":
            # Compilers put it for BSF: an older CPU takes it as that, and they agree but
            # on 0, for which __builtin_ctz() is not defined.
            continue
        elif needs - allowed:
            wrong.add(f"{mnemonic} needs {' and '.join(sorted(needs - allowed))}")
        elif folder == "core" and X86_FLOAT.search(mnemonic):
            wrong.add(f"{mnemonic} is float arithmetic")
    return wrong, count


def arm_instructions(folder, name, objdump):
    """The same for all of an object for AArch64."""
    listing = subprocess.run(
        [objdump, "--disassemble", "--no-show-raw-insn", "--mattr=+v8a", name],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    wrong, count = set(), 0
    for address, mnemonic in re.findall(r"^ *([0-9a-f]+): *\t?(\S+)", listing, re.M):
        count += 1
        if mnemonic == "<unknown>":
            wrong.add(f"an instruction beyond ARMv8.0-A at {address}")
        elif folder == "core" and ARM_FLOAT.match(mnemonic):
            wrong.add(f"{mnemonic} is float arithmetic")
    return wrong, count


def check(folder, name, objdump):
    """What is wrong with the object called `name`, and how many instructions it has."""
    with open(name, "rb") as file:
        elf = ELFFile(file)
        wrong, count = set(), 0
        for section in elf.iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
                if section.name == ".note.GNU-stack":
                    wrong.add("a stack that can be executed")
                elif elf["e_machine"] == "EM_X86_64":
                    found = x86_instructions(folder, name, section.data())
                    wrong |= found[0]
                    count += found[1]
            # openmp.c has to hear of a fork, whoever forks.
            if re.match(
                r"\.(preinit_array|init_array|fini_array|[cd]tors)", section.name
            ) and not name.endswith("/openmp.c.o"):
                wrong.add(f"{section.name}: code that runs at start-up or at exit")
        if elf.get_section_by_name(".note.GNU-stack") is None:
            wrong.add("a stack that can be executed, by default")
        if elf["e_machine"] == "EM_AARCH64" and objdump:
            wrong_code, count = arm_instructions(folder, name, objdump)
            wrong |= wrong_code

        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            where, kind = symbol["st_shndx"], symbol["st_info"]["type"]
            if where == "SHN_UNDEF":
                if symbol.name and not FUNCTIONS.fullmatch(symbol.name):
                    wrong.add(f"{symbol.name} is not on the list of functions")
            elif kind in ("STT_OBJECT", "STT_TLS", "STT_COMMON") and where != "SHN_ABS":
                section = elf.get_section(where) if isinstance(where, int) else None
                constant = section is not None and (
                    not section["sh_flags"] & SH_FLAGS.SHF_WRITE
                    or section.name.startswith(".data.rel.ro")
                )
                if not constant and re.sub(r"\.\d+$", "", symbol.name) not in VARIABLES:
                    wrong.add(f"{symbol.name} is not on the list of variables")
    return wrong, count


def main(arguments):
    objdump = None
    if arguments[:1] == ["--llvm-objdump"]:
        objdump, arguments = arguments[1], arguments[2:]
    folder, failed, objects, instructions = None, False, 0, 0
    for argument in arguments:
        if argument in ("core", "neon", *X86_FEATURES):
            folder = argument
            continue
        wrong, count = check(folder, argument, objdump)
        objects += 1
        instructions += count
        for what in sorted(wrong):
            failed = True
            print(f"{argument}: {what}")
    print(f"{objects} objects, {instructions} instructions")
    if objects < 2:
        failed = True
        print("there are no objects")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
