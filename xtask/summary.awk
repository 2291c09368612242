# Summarises the rows of benches/peers/run and of the bench `figures`.
# - Reductions: the rate as a fraction of the read ceiling and of CUB's rate, and the host time as a
#   fraction of CUB's.
# - Scans: the rate as a fraction of the copy ceiling and of CUB's.
#
# Fails if a result differs from CUB's, or if a reduction of 1 GiB has less than 0.6 of the read
# ceiling.
BEGIN { FS = "," }
FNR == 1 { next }
$1 == "read" { ceiling[$5] = $5 / $8 / 1e3 }
$1 == "cub" && $7 == "graph" { cub[$2, $3, $5] = $8; result[$2, $3, $5] = $12 }
$1 == "cub" && $7 == "host" { cub_host[$2, $3, $5] = $8 }
$1 == "warpfold" && $7 == "graph" {
    rate = $5 / $8 / 1e3
    printf "%-18s %-6s %11.0f +%-2d %9.2f us %6.0f GB/s", $2, $3, $5, $6, $8, rate
    if (ceiling[$5]) printf "  %.3f of reading", rate / ceiling[$5]
    if (cub[$2, $3, $5]) printf "  %.3f of CUB", cub[$2, $3, $5] / $8
    if ($6 == 0 && result[$2, $3, $5] && result[$2, $3, $5] != "-" && result[$2, $3, $5] != $12) {
        printf "  DIFFERS from CUB"
        failed = 1
    }
    if ($5 == 1073741824 && $6 == 0 && ceiling[$5] && rate / ceiling[$5] < 0.6) failed = 1
}
$1 == "warpfold" && $7 == "host" {
    printf "  host %.2f us", $8
    if (cub_host[$2, $3, $5]) printf ", %.2f of CUB's", $8 / cub_host[$2, $3, $5]
    printf "\n"
}
$1 == "copy" { copying[$5] = $8 }
$1 == "cub-scan" { cub_scan[$2, $3, $5] = $8; scanned[$2, $3, $5] = $12 }
$1 == "warpfold-scan" {
    printf "scan %-18s %-6s %11.0f +%-2d %9.2f us", $2, $3, $5, $6, $8
    if (copying[$5]) printf "  %.3f of copying", copying[$5] / $8
    if (cub_scan[$2, $3, $5]) printf "  %.3f of CUB", cub_scan[$2, $3, $5] / $8
    if ($6 == 0 && scanned[$2, $3, $5] && scanned[$2, $3, $5] != $12) {
        printf "  DIFFERS from CUB"
        failed = 1
    }
    printf "\n"
}
END { exit failed }
