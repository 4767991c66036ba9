// Package ecosystem knows how the packages that a lock file names come to be
// beside it: a table of commands, and how to tell that what is there already
// is what the lock file says.
package ecosystem

import (
	"encoding/json"
	"strings"
)

// Ecosystem is a row of the table: how the packages of one lock file come to
// be beside it.
type Ecosystem struct {
	Name   string
	Family string                 // stack whose gates need it; ecosystems of one family exclude each other in a directory
	Lock   string                 // file, or pattern of one, that says exactly what is to be installed
	Fits   func(text string) bool // of what the lock file holds; nil: whatever it is
	Also   []string               // further files in the directory that say what is installed, as patterns
	Tools  []string               // programs whose versions matter; the first one installs
	Args   []string               // the install command, frozen: it may not change the lock file
	Away   []string               // added where there is no network
	Env    []string               // of the command
	Out    []string               // directories that it makes beside the lock file
	Bare   bool                   // it is no lock file but a manifest, which says less exactly what is to be installed
	Lent   bool                   // nothing is ever installed: what the user has there is lent, if anything
	Deep   string                 // name of directories that it makes also below, in the packages of a workspace
	Bin    string                 // directory with programs that commands find first
	// Same reports why what lies at dir, beside a lock file with this text, is
	// not what the lock file names. Nil where that cannot be told.
	Same func(dir, lock string) error
}

// Table returns all ecosystems, in each family the one first that wins.
func Table() []Ecosystem {
	return append(nodeRows(), append(pythonRows(), otherRows()...)...)
}

func nodeRows() []Ecosystem {
	quiet := []string{"CI=1", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_loglevel=warn", "ADBLOCK=1", "DISABLE_OPENCOLLECTIVE=1", "HUSKY=0", "COREPACK_ENABLE_DOWNLOAD_PROMPT=0", "COREPACK_ENABLE_AUTO_PIN=0"}
	also := []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bunfig.toml", ".yarn/releases/*", ".yarn/patches/*", "patches/*"}
	row := func(name, lock string, r Ecosystem) Ecosystem {
		r.Name, r.Family, r.Lock, r.Also, r.Env, r.Out, r.Deep = name, "node", lock, also, quiet, []string{"node_modules"}, "node_modules"
		r.Tools = append(r.Tools, "node")
		return r
	}
	return []Ecosystem{
		row("pnpm", "pnpm-lock.yaml", Ecosystem{Tools: []string{"pnpm"}, Args: words("pnpm install --frozen-lockfile"), Away: words("--offline"), Same: samePnpm}),
		row("yarn-classic", "yarn.lock", Ecosystem{Fits: has("# yarn lockfile v1"), Tools: []string{"yarn"}, Args: words("yarn install --frozen-lockfile --non-interactive"), Away: words("--offline"), Same: sameYarn}),
		row("yarn", "yarn.lock", Ecosystem{Fits: func(text string) bool { return !has("# yarn lockfile v1")(text) }, Tools: []string{"yarn"}, Args: words("yarn install --immutable"), Away: words("--mode=skip-build")}),
		row("bun", "bun.lock*", Ecosystem{Tools: []string{"bun"}, Args: words("bun install --frozen-lockfile")}),
		row("npm", "npm-shrinkwrap.json", Ecosystem{Tools: []string{"npm"}, Args: words("npm ci"), Away: words("--offline"), Same: sameNpm}),
		row("npm", "package-lock.json", Ecosystem{Tools: []string{"npm"}, Args: words("npm ci"), Away: words("--offline"), Same: sameNpm}),
		row("pnpm", "package.json", Ecosystem{Bare: true, Fits: asks("pnpm"), Tools: []string{"pnpm"}, Args: words("pnpm install --no-lockfile"), Away: words("--offline"), Same: sameManifest}),
		row("yarn-classic", "package.json", Ecosystem{Bare: true, Fits: asks("yarn@1"), Tools: []string{"yarn"}, Args: words("yarn install --no-lockfile --non-interactive"), Away: words("--offline"), Same: sameManifest}),
		row("yarn", "package.json", Ecosystem{Bare: true, Fits: asks("yarn"), Tools: []string{"yarn"}, Args: words("yarn install --no-immutable"), Away: words("--mode=skip-build"), Same: sameManifest}),
		row("bun", "package.json", Ecosystem{Bare: true, Fits: asks("bun"), Tools: []string{"bun"}, Args: words("bun install --no-save"), Same: sameManifest}),
		row("npm", "package.json", Ecosystem{Bare: true, Fits: asks(""), Tools: []string{"npm"}, Args: words("npm install --no-package-lock"), Away: words("--offline"), Same: sameManifest}),
	}
}

func pythonRows() []Ecosystem {
	// A cache that may be read only is no reason to fail, and compiled files
	// are made when they are needed.
	quiet := []string{"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1", "UV_NO_PROGRESS=1", "UV_PYTHON_DOWNLOADS=never", "UV_LINK_MODE=copy"}
	row := func(name, lock string, r Ecosystem) Ecosystem {
		r.Name, r.Family, r.Lock, r.Out, r.Bin = name, "python", lock, []string{".venv"}, ".venv/bin"
		r.Also = append(r.Also, "pyproject.toml", "setup.py", "setup.cfg", ".python-version", "uv.toml", "poetry.toml")
		r.Env = append(r.Env, quiet...)
		r.Tools = append(r.Tools, "python3")
		return r
	}
	const venv = "python3 -m venv .venv && .venv/bin/python -m pip install --quiet"
	rows := []Ecosystem{
		row("uv", "uv.lock", Ecosystem{Tools: []string{"uv"}, Args: words("uv sync --frozen"), Away: words("--offline"), Same: samePython}),
		row("poetry", "poetry.lock", Ecosystem{Tools: []string{"poetry"}, Args: words("poetry install --no-interaction"), Env: []string{"POETRY_VIRTUALENVS_IN_PROJECT=true", "POETRY_VIRTUALENVS_CREATE=true"}, Same: samePython}),
		row("pipenv", "Pipfile.lock", Ecosystem{Tools: []string{"pipenv"}, Args: words("pipenv sync --dev"), Env: []string{"PIPENV_VENV_IN_PROJECT=1"}, Also: []string{"Pipfile"}}),
		row("pip", "requirements.txt", Ecosystem{
			Tools: []string{"python3"}, Also: []string{"requirements*.txt", "constraints*.txt", "requirements/*.txt"},
			Args: []string{"sh", "-c", venv + ` -r requirements.txt $(for f in requirements-dev.txt requirements-test.txt; do test -f $f && echo "-r $f"; done) "$@"`, "sh"},
			Away: words("--retries 0"), Same: sameRequirements,
		}),
	}
	for _, manifest := range words("pyproject.toml setup.py setup.cfg") { // which extras tests need is nowhere said
		own := Ecosystem{Bare: true, Lent: true, Tools: words("python3"), Args: []string{"sh", "-c", venv + " -e ."}, Same: sameEnvironment}
		rows = append(rows, row("venv", manifest, own))
	}
	return rows
}

func otherRows() []Ecosystem {
	return []Ecosystem{
		{
			Name: "bundler", Family: "ruby", Lock: "Gemfile.lock", Also: []string{"Gemfile", ".ruby-version", "*.gemspec"}, Tools: []string{"bundle", "ruby"},
			Args: words("bundle install"), Away: words("--local"), Env: []string{"BUNDLE_PATH=vendor/bundle", "BUNDLE_FROZEN=true"}, Out: []string{"vendor/bundle", ".bundle"}, Same: sameGems,
		},
		{
			Name: "composer", Family: "php", Lock: "composer.lock", Also: []string{"composer.json"}, Tools: []string{"composer", "php"},
			Args: words("composer install --no-interaction --no-progress"), Env: []string{"COMPOSER_ALLOW_SUPERUSER=1"}, Out: []string{"vendor"}, Same: sameComposer,
		},
		{
			Name: "bundler", Family: "ruby", Lock: "Gemfile", Bare: true, Fits: has("gem"), Also: []string{".ruby-version", "*.gemspec"}, Tools: []string{"bundle", "ruby"},
			Args: words("bundle install"), Away: words("--local"), Env: []string{"BUNDLE_PATH=vendor/bundle"}, Out: []string{"vendor/bundle", ".bundle"},
		},
		{
			Name: "composer", Family: "php", Lock: "composer.json", Bare: true, Fits: has("\"require"), Tools: []string{"composer", "php"},
			Args: words("composer install --no-interaction --no-progress"), Env: []string{"COMPOSER_ALLOW_SUPERUSER=1"}, Out: []string{"vendor"}, Same: sameComposerManifest,
		},
	}
}

// has returns what reports whether a text holds another.
func has(part string) func(text string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

// asks returns what reports whether a package.json asks for packages, and for
// this package manager, by its name or the beginning of name@version.
func asks(manager string) func(text string) bool {
	return func(text string) bool {
		var m struct{ PackageManager string }
		_ = json.Unmarshal([]byte(text), &m) // what is no JSON names none
		return has("ependencies\"")(text) && strings.HasPrefix(m.PackageManager+"@", manager)
	}
}

func words(line string) []string { return strings.Fields(line) }

// Programs returns what the commands of a family begin with.
func Programs(family string) []string {
	switch family {
	case "node":
		return words("node npm npx pnpm pnpx yarn bun bunx corepack tsc tsx ts-node eslint biome prettier vitest jest mocha ava tap playwright cypress vite webpack rollup esbuild next nuxt ng turbo nx lerna")
	case "python":
		return words("python python3 pip pip3 pytest py.test uv uvx poetry pipenv ruff flake8 pylint mypy pyright basedpyright black isort tox nox coverage django-admin manage.py")
	case "ruby":
		return words("ruby bundle rake rspec rubocop rails")
	case "php":
		return words("php composer phpunit phpstan phpcs psalm pest")
	}
	return nil
}
