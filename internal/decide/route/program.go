package route

import "slices"

// Program is an agent program that could do sessions.
type Program struct {
	Name    string
	Maker   string // whose models it uses; empty: unknown
	Metered bool   // its work costs money; else a subscription pays for it
}

// Programs chooses who does the sessions of somebody who set nothing up: who
// writes, and who reads what was written, best first. The next one works while
// those before it have no quota, and is never one that costs money beside one
// that does not: that takes somebody who asks for it. Readers are another
// maker's, where there is one.
func Programs(usable []Program) (writes, reads []string) {
	free := slices.DeleteFunc(slices.Clone(usable), func(p Program) bool { return p.Metered })
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
