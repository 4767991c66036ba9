# Looks for known faults in the dependencies that lock files name. It ends with
# 0 where there are none, with 3 where there are some, and with 4 where nobody
# can tell: a program is not there, or reaches nobody, or none looks into such a
# file. npm that is told to stay offline finds no faults in anything, so it is not.
found=0 unsure=0
look() {
	pattern=$1
	shift
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "$1 is not installed"
		unsure=1
		return
	fi
	if out=$(cd "$dir" && "$@" 2>&1); then
		return
	fi
	printf '%s\n' "$out"
	if printf '%s\n' "$out" | grep -Eq "$pattern"; then
		found=1
	else
		unsure=1
	fi
}
nobody() {
	echo "nothing here looks into $file"
	unsure=1
}
root=$PWD
IFS='
'
set -f
for file in $(find . -maxdepth 4 \( -name node_modules -o -name vendor -o -name .venv -o -name venv -o -name testdata -o -name .git \) -prune -o -type f \( \
	-name go.mod -o -name package-lock.json -o -name pnpm-lock.yaml -o -name yarn.lock -o -name bun.lock -o -name Cargo.lock -o -name requirements.txt -o \
	-name poetry.lock -o -name uv.lock -o -name pdm.lock -o -name Pipfile.lock -o -name Gemfile.lock -o -name composer.lock -o -name pom.xml -o \
	-name gradle.lockfile -o -name packages.lock.json \) -print | LC_ALL=C sort); do
	dir=$root/${file%/*}
	case ${file##*/} in
	go.mod) look '^Vulnerability #[0-9]+' govulncheck ./... ;;
	package-lock.json) look '^[1-9][0-9]* .*vulnerabilit' npm audit --no-offline --omit=dev --audit-level=high ;;
	pnpm-lock.yaml) look '^[1-9][0-9]* vulnerabilit(y|ies) found' pnpm audit --prod --audit-level=high ;;
	Cargo.lock) look 'vulnerabilit(y|ies) found' cargo audit ;;
	requirements.txt) look '^Found [0-9]+ known vulnerabilit' pip-audit -r requirements.txt ;;
	Gemfile.lock) look '^Vulnerabilities found' bundle-audit check --update ;;
	composer.lock) look '^Found [0-9]+ security vulnerability' composer audit --locked --no-interaction ;;
	poetry.lock | uv.lock | pdm.lock | Pipfile.lock) if [ ! -f "$dir/requirements.txt" ]; then nobody; fi ;;
	*) nobody ;;
	esac
done
if [ $found = 1 ]; then exit 3; fi
if [ $unsure = 1 ]; then exit 4; fi
