# Tables of what recorders add, from lines "round recorder construct ns": medians over the rounds of differences within a round. For benches of constructs.
#
#   awk -f bench/median.awk -f bench/added.awk -v order="none bare partune" -v rounds=5 times
function takes(recorder, kind,    i, n, list) {
    for (i = 0; i < rounds; i++) list[++n] = ns[i, recorder, kind]
    return median(list, n)
}
function adds(recorder, kind,    i, n, list) {
    for (i = 0; i < rounds; i++) list[++n] = ns[i, recorder, kind] - ns[i, "none", kind]
    return median(list, n)
}
function of(recorder, other, kind,    i, n, list) {
    for (i = 0; i < rounds; i++) list[++n] = ns[i, recorder, kind] / ns[i, other, kind]
    return median(list, n)
}
{ ns[$1, $2, $3] = $4; if (!seen[$3]++) kinds[++k] = $3 }
END {
    n = split(order, recorders, " ")
    printf "\nMedians of %d rounds in turns, ns a construct.\n\n| %-22s |", rounds, ""
    for (i = 1; i <= k; i++) printf " %10s |", kinds[i]
    printf "\n|------------------------|"
    for (i = 1; i <= k; i++) printf "-----------:|"
    for (r = 1; r <= n; r++) {
        printf "\n| %-22s |", recorders[r] == "none" ? "no recorder" : recorders[r] " adds"
        for (i = 1; i <= k; i++) printf " %10.1f |", recorders[r] == "none" ? takes("none", kinds[i]) : adds(recorders[r], kinds[i])
    }
    print "\n"
    for (i = 1; i <= k; i++) {
        line = sprintf("%-10s takes %.2f times what it does under the bare one", kinds[i], of("partune", "bare", kinds[i]))
        ez = order ~ /eztrace/ ? adds("eztrace", kinds[i]) : 0
        # What it does not record costs as much as nothing.
        if (ez > 10) line = line sprintf("; partune adds %.2f of what EZTrace adds", adds("partune", kinds[i]) / ez)
        print line
    }
}
