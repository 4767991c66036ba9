package detect

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// CheckPackages refuses settings of packages that the tree does not have, which is most likely
// a typo. Earlier or later trees may have others, so only the tree that people work in is
// checked.
func CheckPackages(dir string, c config.GateSettings) error {
	if len(c.Packages) == 0 {
		return nil
	}
	r := monorepo.ReadPackageGraph(os.DirFS(dir))
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		if _, err := r.FindPackage(name); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("packages.%q: %v", name, err),
				Hint: "nexus map --packages lists the packages of the repository.",
			}
		}
	}
	return nil
}

// presentPackages returns the settings of the packages that exist in a tree, by directory.
func presentPackages(dir string, set map[string]config.RepositoryPackageSettings) map[string]config.RepositoryPackageSettings {
	if len(set) == 0 {
		return nil
	}
	r := monorepo.ReadPackageGraph(os.DirFS(dir))
	all := map[string]config.RepositoryPackageSettings{}
	for name, own := range set {
		if p, err := r.FindPackage(name); err == nil {
			all[p.Dir] = own
		}
	}
	return all
}

// applyPackageSettings replaces and turns off gates of packages according to the settings.
func applyPackageSettings(dir string, gates []gate.QualityGate, set map[string]config.RepositoryPackageSettings) []gate.QualityGate {
	all := presentPackages(dir, set)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		for _, step := range gateSteps() {
			line, ok := all[at].Commands[step]
			if !ok {
				continue
			}
			name := stack.GateName(step, at)
			mine := func(g gate.QualityGate) bool { return StepOfGate(g.Name) == step && isGateOfDirectory(g, at) }
			if i := slices.IndexFunc(gates, mine); i >= 0 {
				name = gates[i].Name
			}
			gates = slices.DeleteFunc(gates, mine)
			if line != "" {
				g := parseGateLine(name, line)
				g.Dir, g.Tests = at, g.Tests || step == "test"
				gates = append(gates, g)
			}
		}
	}
	return gates
}

// isGateOfDirectory reports whether a gate belongs to the package in a directory.
func isGateOfDirectory(g gate.QualityGate, dir string) bool {
	return path.Clean(cmp.Or(g.Dir, ".")) == dir
}
