package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

func pythonInstalls() []InstallMethod {
	// A read-only cache must not make the installation fail, and files are compiled when they
	// are needed.
	quiet := []string{"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1", "UV_NO_PROGRESS=1", "UV_PYTHON_DOWNLOADS=never", "UV_LINK_MODE=copy"}
	row := func(name, lock string, r InstallMethod) InstallMethod {
		r.Name, r.Lock, r.Out, r.Bin = name, lock, []string{".venv"}, ".venv/bin"
		r.Also = append(r.Also, "pyproject.toml", "setup.py", "setup.cfg", ".python-version", "uv.toml", "poetry.toml")
		r.Env = append(r.Env, quiet...)
		r.Tools = append(r.Tools, "python3")
		return r
	}
	const byHand = "python3 -m venv .venv && .venv/bin/pip install "
	const venv = "python3 -m venv .venv && .venv/bin/python -m pip install --quiet"
	rows := []InstallMethod{
		row("uv", "uv.lock", InstallMethod{Tools: []string{"uv"}, Args: splitWords("uv sync --frozen"), Away: splitWords("--offline"), Same: checkPythonLock}),
		row("poetry", "poetry.lock", InstallMethod{Tools: []string{"poetry"}, Args: splitWords("poetry install --no-interaction"), Env: []string{"POETRY_VIRTUALENVS_IN_PROJECT=true", "POETRY_VIRTUALENVS_CREATE=true"}, Same: checkPythonLock}),
		row("pipenv", "Pipfile.lock", InstallMethod{Tools: []string{"pipenv"}, Args: splitWords("pipenv sync --dev"), Env: []string{"PIPENV_VENV_IN_PROJECT=1"}, Also: []string{"Pipfile"}}),
		row("pip", "requirements.txt", InstallMethod{
			Tools: []string{"python3"}, Also: []string{"requirements*.txt", "constraints*.txt", "requirements/*.txt"},
			Args: []string{"sh", "-c", venv + ` -r requirements.txt $(for f in requirements-dev.txt requirements-test.txt; do test -f $f && echo "-r $f"; done) "$@"`, "sh"},
			Away: splitWords("--retries 0"), Same: checkPythonRequirements, Command: byHand + "-r requirements.txt",
		}),
	}
	for _, manifest := range splitWords("pyproject.toml setup.py setup.cfg") { // no file says which extras the tests need
		own := InstallMethod{Bare: true, Lent: true, Tools: splitWords("python3"), Args: []string{"sh", "-c", venv + " -e ."}, Same: checkPythonEnvironment, Command: byHand + "-e ."}
		rows = append(rows, row("venv", manifest, own))
	}
	return rows
}

// pythonInstalledVersions returns the versions of the packages in a virtual environment.
func pythonInstalledVersions(tree fs.FS) (map[string]string, error) {
	names, err := fs.Glob(tree, ".venv/lib/python3*/site-packages/*.dist-info")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(errors.New("there is no .venv with packages"), err)
	}
	have := map[string]string{}
	for _, n := range names {
		name, version, _ := strings.Cut(strings.TrimSuffix(path.Base(n), ".dist-info"), "-")
		have[normalizePythonName(name)] = version
	}
	return have, nil
}

// checkPythonEnvironment returns an error unless there is a virtual environment that can run. A
// manifest has too little information to check that it is the right one.
func checkPythonEnvironment(tree fs.FS, _ string) error {
	if _, err := fs.Stat(tree, ".venv/bin/python"); err != nil {
		return err
	}
	_, err := DescribeVenv(tree)
	return err
}

// DescribeVenv describes the content of a virtual environment beside a manifest: its Python
// version, its packages by name and version, and the directories that its path files name.
func DescribeVenv(tree fs.FS) (string, error) {
	sites, err := fs.Glob(tree, ".venv/lib/python3*/site-packages")
	if err != nil || len(sites) != 1 {
		return "", errors.Join(errors.New("there is no .venv of one Python"), err)
	}
	names, err := fs.ReadDir(tree, sites[0])
	if err != nil {
		return "", err
	}
	var has strings.Builder
	fmt.Fprintln(&has, path.Base(path.Dir(sites[0])))
	for _, d := range names {
		fmt.Fprintln(&has, d.Name())
		if ext := path.Ext(d.Name()); ext == ".pth" || ext == ".egg-link" || strings.HasPrefix(d.Name(), "__editable__") {
			text, _ := readSmallFile(tree, sites[0], d.Name()) // an unreadable file names no directory
			has.WriteString(text)
		}
	}
	return has.String(), nil
}

// normalizePythonName returns the normalized name of a package, which is the same for all spellings.
func normalizePythonName(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

// checkPythonLock returns an error if an installed package has another version than in the lock
// file, or if fewer than half of the locked packages are installed. The others are assumed to
// be for other platforms or extras.
func checkPythonLock(tree fs.FS, lock string) error {
	have, err := pythonInstalledVersions(tree)
	if err != nil {
		return err
	}
	want := map[string][]string{}
	name := ""
	for line := range strings.Lines(lock) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch v = strings.Trim(v, `"`); k {
		case "name":
			name = normalizePythonName(v)
		case "version":
			want[name] = append(want[name], v)
		}
	}
	for n, v := range have {
		if _, ok := want[n]; ok && !slices.Contains(want[n], v) {
			return fmt.Errorf("%s is installed in version %s", n, v)
		}
	}
	found := 0
	for n := range want {
		if have[n] != "" {
			found++
		}
	}
	if found*2 < len(want) {
		return fmt.Errorf("%d of %d packages are installed", found, len(want))
	}
	return nil
}

// checkPythonRequirements returns an error unless the pinned packages of a requirements file are
// installed in that version. Lines with a condition are not compared. A file that does not pin
// everything proves nothing.
func checkPythonRequirements(tree fs.FS, lock string) error {
	have, err := pythonInstalledVersions(tree)
	if err != nil {
		return err
	}
	pin := regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==([^\s;]+)`)
	for line := range strings.Lines(lock) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "--hash") {
			continue
		}
		m := pin.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("the line %q pins no version", sanitize.TruncateText(line, 60))
		}
		if !strings.Contains(line, ";") && have[normalizePythonName(m[1])] != m[2] {
			return fmt.Errorf("%s %s is not installed", m[1], m[2])
		}
	}
	return nil
}

// requirementPackages reads a requirements.txt.
func requirementPackages(text string) []ListedPackage {
	row := regexp.MustCompile(`^([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*(?:[=~<>!]=?=?\s*([\w.*+!-]+))?`)
	var all []ListedPackage
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := row.FindStringSubmatch(line); m != nil {
			all = append(all, ListedPackage{Kind: KindPython, Name: strings.ToLower(m[1]), Version: m[2], Line: n})
		}
	}
	return all
}

// pipfilePackages reads a Pipfile.lock.
func pipfilePackages(text string) []ListedPackage {
	var lock map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []ListedPackage
	for _, part := range []string{"default", "develop"} {
		var rows map[string]struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(lock[part], &rows) != nil {
			continue
		}
		for name, p := range rows {
			all = append(all, ListedPackage{Kind: KindPython, Name: strings.ToLower(name), Version: strings.TrimLeft(p.Version, "=")})
		}
	}
	return sortedPackages(all)
}
