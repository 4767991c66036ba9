# Looks for known faults in the dependencies that lock files name. It ends with
# 0 where there are none, with 3 where there are some, and with 4 where nobody
# can tell: a program is not there, or reaches nobody.
found=0 unsure=0
look() {
	pattern=$1
	shift
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "$1 is not installed"
		unsure=1
		return
	fi
	if out=$("$@" 2>&1); then
		return
	fi
	printf '%s\n' "$out"
	if printf '%s\n' "$out" | grep -Eq "$pattern"; then
		found=1
	else
		unsure=1
	fi
}
if [ -f go.mod ]; then look '^Vulnerability #[0-9]+' govulncheck ./...; fi
if [ -f package-lock.json ]; then look '^[1-9][0-9]* .*vulnerabilit' npm audit --omit=dev --audit-level=high; fi
if [ -f Cargo.lock ]; then look 'vulnerabilit(y|ies) found' cargo audit; fi
if [ -f requirements.txt ]; then look '^Found [0-9]+ known vulnerabilit' pip-audit -r requirements.txt; fi
if [ $found = 1 ]; then exit 3; fi
if [ $unsure = 1 ]; then exit 4; fi
