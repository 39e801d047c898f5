# Did the kernels come out as vector code? Disassembles the row functions of
# the map table for each instruction set: the width of their registers, fused
# multiply-adds, and no call but SLEEF's functions and memcpy (of the last,
# incomplete vector).
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
: "${OBJDUMP:=objdump}"

# Disassembly of the kernels of one level, with relocations: dump LEVEL
dump() {
    object=$(find "$top_builddir" -name "libmap_$1_la-map_kernels.o" |
        sort | head -n 1)
    [ -n "$object" ] && $OBJDUMP -dr --no-show-raw-insn "$object" \
        > "$scratch/$1" 2> "$scratch/err"
}

# FUNCTION, one for each row function without an instruction that matches
# PATTERN: lacking LEVEL NAMES PATTERN
lacking() {
    $AWK -v names="$2" -v pattern="$3" '
        /^[0-9a-f]+ <.*>:$/ {
            name = $2
            gsub(/[<>:]/, "", name)
            row = name ~ /^row_/ && name ~ names && name !~ /part|cold/
            if (row)
                seen[name] += 0
            next
        }
        row && $0 ~ pattern { seen[name]++ }
        END {
            for (name in seen) {
                n++
                if (!seen[name])
                    print name ": nothing matches " pattern
            }
            if (!n)
                print "no function matches " names
        }' "$scratch/$1" > "$scratch/bad"
}

calls() {
    $AWK '/R_X86_64_(PLT32|PC32|GOTPCREL)/ && /PLT32/ {
            sub(/[-+]0x[0-9a-f]+$/, "", $3)
            print $3
        }' "$scratch/$1" | sort -u |
        grep -Ev '^(Sleef_(finz|cinz)_[a-z0-9_]+|memcpy)$' > "$scratch/bad"
}

fused='row_(fma|fms|fnma|fma_mul|abs_fma|exp|tanh|sigmoid|erf|ndtr)_'
for level in base v3 v4; do
    case $level in
    base) width=xmm ;;
    v3) width=ymm ;;
    v4) width=zmm ;;
    esac
    if ! dump "$level"; then
        skip "$level: vectors" "no object file or no objdump"
        continue
    fi
    if grep -q '__[au][sb]*san' "$scratch/$level"; then
        skip "$level: vectors" "sanitizers are on"
        continue
    fi
    lacking "$level" 'row_' "%$width"
    check "$level: every row function works on $width" "$scratch/bad"
    if [ "$level" != base ]; then
        lacking "$level" "$fused" "vfn?m(add|sub).*%$width"
        check "$level: fused multiply-adds on $width" "$scratch/bad"
    fi
    calls "$level"
    check "$level: no call but SLEEF's" "$scratch/bad"
done
if [ -s "$scratch/base" ] && ! grep -q __asan "$scratch/base"; then
    grep -E '%[yz]mm' "$scratch/base" | head -n 5 > "$scratch/bad"
    check "base: nothing wider than xmm" "$scratch/bad"
fi
finish
