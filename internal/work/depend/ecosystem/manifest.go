package ecosystem

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sameManifest looks whether what a package.json asks for is installed, each
// package in a version that fits. A version that is no range of numbers, such
// as a tag or an address, fits whatever is installed.
func sameManifest(dir, manifest string) error {
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
		text, err := small(dir, "node_modules", path.Clean("/"+name), "package.json")
		if err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
		var has struct{ Version string }
		if err := json.Unmarshal([]byte(text), &has); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !satisfies(has.Version, all[name]) {
			return fmt.Errorf("%s is version %s, and package.json asks for %s", name, has.Version, all[name])
		}
	}
	return nil
}

// sameComposerManifest looks whether what a composer.json asks for is
// installed. Versions are not compared: a range may say what no simple
// comparison can.
func sameComposerManifest(dir, manifest string) error {
	var m struct {
		Require map[string]string `json:"require"`
		Dev     map[string]string `json:"require-dev"`
	}
	var have composerPackages
	text, err := small(dir, "vendor", "composer", "installed.json")
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal([]byte(manifest), &m), json.Unmarshal([]byte(text), &have)); err != nil {
		return err
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(m.Require)), slices.Sorted(maps.Keys(m.Dev))) {
		platform := !strings.Contains(name, "/") // php, and ext-json
		if !platform && !slices.ContainsFunc(have.Packages, func(p composerPackage) bool { return strings.EqualFold(p.Name, name) }) {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	return nil
}

// satisfies reports whether a version is in a range of npm.
func satisfies(version, wanted string) bool {
	v, pre, ok := numbers(version)
	if !ok || pre != "" {
		return strings.TrimPrefix(wanted, "=") == version || !numeric.MatchString(wanted)
	}
	if !numeric.MatchString(wanted) {
		return true
	}
	return slices.ContainsFunc(strings.Split(wanted, "||"), func(one string) bool {
		if from, to, ok := strings.Cut(one, " - "); ok {
			return bounded(v, ">="+strings.TrimSpace(from)) && bounded(v, "<="+strings.TrimSpace(to))
		}
		one = regexp.MustCompile(`([<>=~^]+)\s+`).ReplaceAllString(one, "$1")
		return !slices.ContainsFunc(strings.Fields(one), func(part string) bool { return !bounded(v, part) })
	})
}

// numeric is a range of numbers, of which versions are compared.
var numeric = regexp.MustCompile(`^[\sv0-9.xX*<>=~^|-]*$`)

// bounded reports whether a version keeps to one comparison.
func bounded(v [3]int, part string) bool {
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
	high := low // of what it stands for, the first that is too high
	switch at := max(given-1, 0); {
	case given == 0:
		return true
	case sign == "^":
		for at = 0; at < given-1 && low[at] == 0; at++ {
		}
		high = raised(low, at)
	case sign == "~":
		high = raised(low, min(at, 1))
	default:
		high = raised(low, at)
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

// raised returns the next version that differs in a number.
func raised(v [3]int, at int) [3]int {
	v[at]++
	for i := at + 1; i < 3; i++ {
		v[i] = 0
	}
	return v
}

// numbers takes a version apart.
func numbers(s string) (v [3]int, pre string, ok bool) {
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
