package route

import "slices"

// AgentProgram is an agent program that can run sessions.
type AgentProgram struct {
	Name    string
	Maker   string // the maker of its models; empty: unknown
	Metered bool   // its work costs money; otherwise a subscription covers it
}

// ChoosePrograms chooses the agent programs for a user without any configuration: for writers and
// for reviewers, best first. The next one is used while those before it have no quota. A
// program that costs money is never listed next to one that does not: that needs the user's
// decision. Reviewers use another maker's program, if there is one.
func ChoosePrograms(usable []AgentProgram) (writes, reads []string) {
	free := slices.DeleteFunc(slices.Clone(usable), func(p AgentProgram) bool { return p.Metered })
	if len(free) == 0 {
		free = usable[:min(1, len(usable))]
	}
	if len(free) == 0 {
		return nil, nil
	}
	for _, p := range free {
		writes = append(writes, p.Name)
	}
	for _, same := range []bool{false, true} {
		for _, p := range free {
			if (p.Maker == free[0].Maker) == same {
				reads = append(reads, p.Name)
			}
		}
	}
	return writes[:min(1+MaxFallbackModels, len(writes))], reads[:min(1+MaxFallbackModels, len(reads))]
}
