package ecosystem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// Most is the largest file that is read here.
const Most = 32 << 20

// Read returns a regular file below a directory, empty where there is none or
// it is larger than [Most].
func Read(root *os.Root, name string) string {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > Most {
		return ""
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return ""
	}
	return string(data)
}

// small reads a file of the user's checkout that says what is installed.
func small(dir string, name ...string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only read
	text := Read(root, path.Join(name...))
	if text == "" {
		return "", fmt.Errorf("there is no %s", path.Join(name...))
	}
	return text, nil
}

// npmLock is package-lock.json, and what npm writes into node_modules.
type npmLock struct {
	Packages map[string]npmPackage `json:"packages"`
}

type npmPackage struct {
	Version   string `json:"version"`
	Resolved  string `json:"resolved"`
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
	Optional  bool   `json:"optional"`
	DevOpt    bool   `json:"devOptional"`
	Peer      bool   `json:"peer"`
}

// sameNpm compares the lock file with the one that npm keeps of what it
// installed, and looks whether that is still there.
func sameNpm(dir, lock string) error {
	var want, have npmLock
	text, err := small(dir, "node_modules", ".package-lock.json")
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal([]byte(lock), &want), json.Unmarshal([]byte(text), &have)); err != nil {
		return err
	}
	if len(want.Packages) == 0 {
		return errors.New("the lock file is of an npm before 7")
	}
	for name, p := range want.Packages {
		is, ok := have.Packages[name]
		inside := strings.HasPrefix(name, "node_modules/") || strings.Contains(name, "/node_modules/")
		switch {
		case !inside || !ok && (p.Optional || p.DevOpt || p.Peer): // the project itself and its workspaces; not for this platform
		case !ok:
			return fmt.Errorf("%s is not installed", name)
		case is.Version != p.Version || is.Integrity != p.Integrity || is.Link != p.Link:
			return fmt.Errorf("%s is installed in another version", name)
		}
	}
	for name, p := range have.Packages {
		if _, ok := want.Packages[name]; !ok {
			return fmt.Errorf("%s is not in the lock file", name)
		}
		if !strings.Contains("/"+name, "/node_modules/") {
			continue
		}
		if err := installed(filepath.Join(dir, filepath.FromSlash(name)), p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// installed reports whether a package's directory says that it is that version.
func installed(dir string, p npmPackage) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if linked := info.Mode()&fs.ModeSymlink != 0; linked != p.Link {
		return errors.New("it is a link, or is none and should be one")
	}
	if p.Link {
		return nil
	}
	var m struct {
		Version string `json:"version"`
	}
	text, err := small(dir, "package.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Version != p.Version {
		return fmt.Errorf("it is version %q", m.Version)
	}
	return nil
}

// samePnpm compares the lock file with the copy that pnpm keeps of it.
func samePnpm(dir, lock string) error {
	text, err := small(dir, "node_modules", ".pnpm", "lock.yaml")
	if err == nil && text != lock {
		err = errors.New("pnpm installed from another lock file")
	}
	return err
}

// sameYarn compares the lock file with what Yarn 1 noted when it installed.
func sameYarn(dir, lock string) error {
	text, err := small(dir, "node_modules", ".yarn-integrity")
	if err != nil {
		return err
	}
	var have struct {
		LockfileEntries map[string]string `json:"lockfileEntries"`
	}
	if err := json.Unmarshal([]byte(text), &have); err != nil {
		return err
	}
	if !maps.Equal(have.LockfileEntries, yarnEntries(lock)) {
		return errors.New("it was installed from another lock file")
	}
	return nil
}

// yarnEntries returns from where each pattern of a lock file of Yarn 1 is
// resolved.
func yarnEntries(lock string) map[string]string {
	all := map[string]string{}
	var names []string
	for line := range strings.Lines(lock) {
		line = strings.TrimRight(line, "\r\n")
		switch at, isResolved := strings.CutPrefix(line, "  resolved "); {
		case isResolved:
			for _, n := range names {
				all[n] = strings.Trim(at, `"`)
			}
		case line != "" && line[0] != ' ' && line[0] != '#':
			names = nil
			for n := range strings.SplitSeq(strings.TrimSuffix(line, ":"), ", ") {
				names = append(names, strings.Trim(n, `"`))
			}
		}
	}
	return all
}

// pythonHas returns the versions of the packages in a virtual environment.
func pythonHas(dir string) (map[string]string, error) {
	names, err := filepath.Glob(filepath.Join(filepath.Clean(dir), ".venv/lib/python3*/site-packages/*.dist-info"))
	if err != nil || len(names) == 0 {
		return nil, errors.Join(errors.New("there is no .venv with packages"), err)
	}
	have := map[string]string{}
	for _, n := range names {
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(n), ".dist-info"), "-")
		have[pythonName(name)] = version
	}
	return have, nil
}

// sameEnvironment reports whether there is a virtual environment that can run.
// A manifest says too little to tell whether it is the right one.
func sameEnvironment(dir, _ string) error {
	if _, err := os.Stat(filepath.Join(dir, ".venv/bin/python")); err != nil {
		return err
	}
	_, err := EnvironmentHas(dir)
	return err
}

// EnvironmentHas says what a virtual environment beside a manifest has in it:
// its packages by name and version, and the directories that it is pointed to.
func EnvironmentHas(dir string) (string, error) {
	sites, err := filepath.Glob(filepath.Join(filepath.Clean(dir), ".venv/lib/python3*/site-packages"))
	if err != nil || len(sites) != 1 {
		return "", errors.Join(errors.New("there is no .venv of one Python"), err)
	}
	names, err := os.ReadDir(sites[0])
	if err != nil {
		return "", err
	}
	var has strings.Builder
	fmt.Fprintln(&has, filepath.Base(filepath.Dir(sites[0])))
	for _, d := range names {
		fmt.Fprintln(&has, d.Name())
		if ext := filepath.Ext(d.Name()); ext == ".pth" || ext == ".egg-link" || strings.HasPrefix(d.Name(), "__editable__") {
			text, _ := small(sites[0], d.Name()) // what cannot be read points nowhere
			has.WriteString(text)
		}
	}
	return has.String(), nil
}

// pythonName is a package's name as all ways to write it come to.
func pythonName(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

// samePython reports whether all that is installed is in the lock file, in
// that version. What the lock file has more is for other platforms or extras,
// as far as can be told.
func samePython(dir, lock string) error {
	have, err := pythonHas(dir)
	if err != nil {
		return err
	}
	want := map[string][]string{}
	name := ""
	for line := range strings.Lines(lock) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch v = strings.Trim(v, `"`); k {
		case "name":
			name = pythonName(v)
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

// sameRequirements reports whether what a requirements file pins is installed
// in that version. One that does not pin everything proves nothing.
func sameRequirements(dir, lock string) error {
	have, err := pythonHas(dir)
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
			return fmt.Errorf("the line %q pins no version", legible.Cut(line, 60))
		}
		if !strings.Contains(line, ";") && have[pythonName(m[1])] != m[2] {
			return fmt.Errorf("%s %s is not installed", m[1], m[2])
		}
	}
	return nil
}

// sameGems reports whether every gem of the lock file lies in vendor/bundle.
func sameGems(dir, lock string) error {
	gems, err := filepath.Glob(filepath.Join(filepath.Clean(dir), "vendor/bundle/ruby/*/gems/*"))
	if err != nil || len(gems) == 0 {
		return errors.Join(errors.New("there are no gems in vendor/bundle"), err)
	}
	part := ""
	spec := regexp.MustCompile(`^    ([^\s(]+) \(([^)]+)\)$`)
	for line := range strings.Lines(lock) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			part = line
		}
		m := spec.FindStringSubmatch(line)
		if m == nil || part != "GEM" {
			continue
		}
		full := m[1] + "-" + m[2]
		if !slices.ContainsFunc(gems, func(g string) bool { b := filepath.Base(g); return b == full || strings.HasPrefix(b, full+"-") }) {
			return fmt.Errorf("%s is not installed", full)
		}
	}
	return nil
}

// composerPackages are composer.lock and vendor/composer/installed.json.
type composerPackages struct {
	Packages []composerPackage `json:"packages"`
	Dev      []composerPackage `json:"packages-dev"`
}

type composerPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Dist    struct {
		Reference string `json:"reference"`
	} `json:"dist"`
}

// sameComposer compares the lock file with the list that Composer keeps.
func sameComposer(dir, lock string) error {
	var want, have composerPackages
	text, err := small(dir, "vendor", "composer", "installed.json")
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal([]byte(lock), &want), json.Unmarshal([]byte(text), &have)); err != nil {
		return err
	}
	all := slices.Concat(want.Packages, want.Dev)
	for _, p := range all {
		if !slices.Contains(have.Packages, p) {
			return fmt.Errorf("%s %s is not installed", p.Name, p.Version)
		}
	}
	if len(all) != len(have.Packages) {
		return errors.New("more is installed than the lock file has")
	}
	return nil
}
