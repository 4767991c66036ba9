package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// npmLock is package-lock.json, and the file that npm writes into node_modules.
type npmLock struct {
	Packages map[string]npmLockPackage `json:"packages"`
}

type npmLockPackage struct {
	Version   string `json:"version"`
	Resolved  string `json:"resolved"`
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
	Optional  bool   `json:"optional"`
	DevOpt    bool   `json:"devOptional"`
	Peer      bool   `json:"peer"`
}

// checkNpmInstallation compares the lock file with npm's record of its installation, and checks that the
// packages are still there.
func checkNpmInstallation(tree fs.FS, lock string) error {
	var want, have npmLock
	text, err := readSmallFile(tree, "node_modules", ".package-lock.json")
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
		if err := checkInstalledVersion(tree, path.Clean(name), p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkInstalledVersion returns an error if the manifest in a package's directory has another version.
func checkInstalledVersion(tree fs.FS, dir string, p npmLockPackage) error {
	info, err := fs.Lstat(tree, dir)
	if err != nil {
		return err
	}
	if linked := info.Mode()&fs.ModeSymlink != 0; linked != p.Link {
		return errors.New("it is a link and should be a directory, or the other way round")
	}
	if p.Link {
		return nil
	}
	var m struct {
		Version string `json:"version"`
	}
	text, err := readSmallFile(tree, dir, "package.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Version != p.Version {
		return fmt.Errorf("it is version %q", m.Version)
	}
	return nil
}

// checkPnpmInstallation compares the lock file with pnpm's copy of it.
func checkPnpmInstallation(tree fs.FS, lock string) error {
	text, err := readSmallFile(tree, "node_modules", ".pnpm", "lock.yaml")
	if err == nil && text != lock {
		err = errors.New("pnpm installed from another lock file")
	}
	return err
}

// checkYarnInstallation compares the lock file with the record that Yarn 1 wrote when it installed.
func checkYarnInstallation(tree fs.FS, lock string) error {
	text, err := readSmallFile(tree, "node_modules", ".yarn-integrity")
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

// yarnEntries returns the address to which each pattern of a Yarn 1 lock file is resolved.
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

// checkManifestInstalled checks that each package in a package.json is installed in a version that fits.
// If the requested version is not a range of numbers, such as a tag or an address, any
// installed version fits.
func checkManifestInstalled(tree fs.FS, manifest string) error {
	var m struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		return err
	}
	all := maps.Clone(m.DevDependencies)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, m.Dependencies)
	if len(all) == 0 {
		return fmt.Errorf("it asks for no packages")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := readSmallFile(tree, "node_modules", path.Clean("/"+name), "package.json")
		if err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
		var has struct{ Version string }
		if err := json.Unmarshal([]byte(text), &has); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !satisfiesRange(has.Version, all[name]) {
			return fmt.Errorf("%s is version %s, and package.json asks for %s", name, has.Version, all[name])
		}
	}
	return nil
}

// satisfiesRange reports whether a version is in a range of npm.
func satisfiesRange(version, wanted string) bool {
	v, pre, ok := parseVersion(version)
	if !ok || pre != "" {
		return strings.TrimPrefix(wanted, "=") == version || !numeric.MatchString(wanted)
	}
	if !numeric.MatchString(wanted) {
		return true
	}
	return slices.ContainsFunc(strings.Split(wanted, "||"), func(one string) bool {
		if from, to, ok := strings.Cut(one, " - "); ok {
			return satisfiesComparison(v, ">="+strings.TrimSpace(from)) && satisfiesComparison(v, "<="+strings.TrimSpace(to))
		}
		one = regexp.MustCompile(`([<>=~^]+)\s+`).ReplaceAllString(one, "$1")
		return !slices.ContainsFunc(strings.Fields(one), func(part string) bool { return !satisfiesComparison(v, part) })
	})
}

// numeric matches a range of numbers, whose versions can be compared.
var numeric = regexp.MustCompile(`^[\sv0-9.xX*<>=~^|-]*$`)

// satisfiesComparison reports whether a version satisfies one comparison.
func satisfiesComparison(v [3]int, part string) bool {
	sign := part[:len(part)-len(strings.TrimLeft(part, "<>=~^"))]
	parts := strings.Split(strings.TrimLeft(strings.TrimPrefix(part, sign), "v"), ".")
	var low [3]int
	given := 0
	for i, p := range parts[:min(len(parts), 3)] {
		n, err := strconv.Atoi(p)
		if err != nil {
			break // x, or nothing
		}
		low[i], given = n, i+1
	}
	high := low // the first version above the range
	switch at := max(given-1, 0); {
	case given == 0:
		return true
	case sign == "^":
		for at = 0; at < given-1 && low[at] == 0; at++ {
		}
		high = nextVersion(low, at)
	case sign == "~":
		high = nextVersion(low, min(at, 1))
	default:
		high = nextVersion(low, at)
	}
	switch sign {
	case ">":
		return slices.Compare(v[:], high[:]) >= 0
	case ">=":
		return slices.Compare(v[:], low[:]) >= 0
	case "<":
		return slices.Compare(v[:], low[:]) < 0
	case "<=":
		return slices.Compare(v[:], high[:]) < 0
	}
	return slices.Compare(v[:], low[:]) >= 0 && slices.Compare(v[:], high[:]) < 0
}

// nextVersion returns the next version that differs in the number at an index.
func nextVersion(v [3]int, at int) [3]int {
	v[at]++
	for i := at + 1; i < 3; i++ {
		v[i] = 0
	}
	return v
}

// parseVersion splits a version into its numbers.
func parseVersion(s string) (v [3]int, pre string, ok bool) {
	m := regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?(?:\+.*)?$`).FindStringSubmatch(s)
	if m == nil {
		return v, "", false
	}
	for i := range v {
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return v, "", false
		}
		v[i] = n
	}
	return v, m[4], true
}

func nodeInstalls() []InstallMethod {
	quiet := []string{"CI=1", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_loglevel=warn", "ADBLOCK=1", "DISABLE_OPENCOLLECTIVE=1", "HUSKY=0", "COREPACK_ENABLE_DOWNLOAD_PROMPT=0", "COREPACK_ENABLE_AUTO_PIN=0"}
	also := []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bunfig.toml", ".yarn/releases/*", ".yarn/patches/*", "patches/*"}
	row := func(name, lock string, r InstallMethod) InstallMethod {
		r.Name, r.Lock, r.Also, r.Env, r.Out, r.Deep = name, lock, also, quiet, []string{"node_modules"}, "node_modules"
		r.Tools = append(r.Tools, "node")
		r.Manifest, r.Reduce = "package.json", installRelevantManifest
		if len(r.Args) == 2 && r.Args[1] == "ci" {
			r.Lacks, r.Renew = missingFromNpmLock, "npm install"
		}
		return r
	}
	return []InstallMethod{
		row("pnpm", "pnpm-lock.yaml", InstallMethod{Tools: []string{"pnpm"}, Args: splitWords("pnpm install --frozen-lockfile"), Away: splitWords("--offline"), Same: checkPnpmInstallation}),
		row("yarn-classic", "yarn.lock", InstallMethod{Fits: containsTextFunc("# yarn lockfile v1"), Tools: []string{"yarn"}, Args: splitWords("yarn install --frozen-lockfile --non-interactive"), Away: splitWords("--offline"), Same: checkYarnInstallation}),
		row("yarn", "yarn.lock", InstallMethod{Fits: func(text string) bool { return !containsTextFunc("# yarn lockfile v1")(text) }, Tools: []string{"yarn"}, Args: splitWords("yarn install --immutable"), Away: splitWords("--mode=skip-build")}),
		row("bun", "bun.lock*", InstallMethod{Tools: []string{"bun"}, Args: splitWords("bun install --frozen-lockfile")}),
		row("npm", "npm-shrinkwrap.json", InstallMethod{Tools: []string{"npm"}, Args: splitWords("npm ci"), Away: splitWords("--offline"), Same: checkNpmInstallation}),
		row("npm", "package-lock.json", InstallMethod{Tools: []string{"npm"}, Args: splitWords("npm ci"), Away: splitWords("--offline"), Same: checkNpmInstallation}),
		row("pnpm", "package.json", InstallMethod{Bare: true, Fits: manifestNeedsManager("pnpm"), Tools: []string{"pnpm"}, Args: splitWords("pnpm install --no-lockfile"), Away: splitWords("--offline"), Same: checkManifestInstalled}),
		row("yarn-classic", "package.json", InstallMethod{Bare: true, Fits: manifestNeedsManager("yarn@1"), Tools: []string{"yarn"}, Args: splitWords("yarn install --no-lockfile --non-interactive"), Away: splitWords("--offline"), Same: checkManifestInstalled}),
		row("yarn", "package.json", InstallMethod{Bare: true, Fits: manifestNeedsManager("yarn"), Tools: []string{"yarn"}, Args: splitWords("yarn install --no-immutable"), Away: splitWords("--mode=skip-build"), Same: checkManifestInstalled}),
		row("bun", "package.json", InstallMethod{Bare: true, Fits: manifestNeedsManager("bun"), Tools: []string{"bun"}, Args: splitWords("bun install --no-save"), Same: checkManifestInstalled}),
		row("npm", "package.json", InstallMethod{Bare: true, Fits: manifestNeedsManager(""), Tools: []string{"npm"}, Args: splitWords("npm install --no-package-lock"), Away: splitWords("--offline"), Same: checkManifestInstalled}),
	}
}

// manifestNeedsManager returns a function that reports whether a package.json has dependencies and chooses this
// package manager, by its name or the beginning of name@version.
func manifestNeedsManager(manager string) func(text string) bool {
	return func(text string) bool {
		var m struct{ PackageManager string }
		_ = json.Unmarshal([]byte(text), &m) // invalid JSON names none
		return containsTextFunc("ependencies\"")(text) && strings.HasPrefix(m.PackageManager+"@", manager)
	}
}

// pnpmPackages reads the keys of packages: /name@1.0.0: or name@1.0.0(peer@2.0.0):,
// and /name/1.0.0: in old files.
func pnpmPackages(text string) []ListedPackage {
	return packagesByLinePattern(KindNode, text, `^  '?/?((?:@[\w.~-]+/)?[\w.~-]+)[@/](\d[\w.+-]*)(?:\(.*\)|_.*)?'?:\s*$`)
}

// bunPackages reads the rows of packages: "name": ["name@1.0.0", ...
func bunPackages(text string) []ListedPackage {
	return packagesByLinePattern(KindNode, text, `^\s+"[^"]+": \["((?:@[\w.~-]+/)?[\w.~-]+)@(\d[\w.+-]*)"`)
}

// yarnPackages reads the entries of both of its formats: the requested range, and below it the
// resolved version.
func yarnPackages(text string) []ListedPackage {
	head := regexp.MustCompile(`^"?((?:@[\w.~-]+/)?[\w.~-]+)@.*:\s*$`)
	version := regexp.MustCompile(`^  version:? "?([\w.+-]+)"?\s*$`)
	var all []ListedPackage
	n, name, at := 0, "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if m := head.FindStringSubmatch(line); m != nil {
			name, at = m[1], n
		} else if m := version.FindStringSubmatch(line); m != nil && name != "" && m[1] != "0.0.0-use.local" {
			all = append(all, ListedPackage{Kind: KindNode, Name: name, Version: m[1], Line: at})
			name = ""
		}
	}
	return sortedPackages(all)
}

// npmPackages reads its lock file, which names licences.
func npmPackages(text string) []ListedPackage {
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License any    `json:"license"`
			Link    bool   `json:"link"`
		} `json:"packages"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []ListedPackage
	for at, p := range lock.Packages {
		i := strings.LastIndex(at, "node_modules/")
		if i < 0 || p.Link {
			continue
		}
		found := ListedPackage{Kind: KindNode, Name: at[i+len("node_modules/"):], Version: p.Version}
		if licence, _ := p.License.(string); licence != "" {
			found.Licences = []string{licence}
		}
		all = append(all, found)
	}
	return sortedPackages(all)
}

// nodeLicence reads the package.json of an installed package of the same version.
func nodeLicence(p PackageSearchPaths, k ListedPackage) string {
	for _, t := range p.Trees {
		for _, dir := range append(
			[]string{path.Join(t, "node_modules", k.Name)},
			p.matchingPaths(path.Join(t, "node_modules", ".pnpm", strings.ReplaceAll(k.Name, "/", "+")+"@"+k.Version+"*", "node_modules", k.Name))...,
		) {
			if l := manifestLicence(p.readText(dir, "package.json"), k.Version); l != "" {
				return l
			}
		}
	}
	return ""
}
