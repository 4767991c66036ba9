package foreign

import (
	"path"
	"slices"
	"strings"
)

// addTaskNeeds makes the tasks of a plan wait for each other, and its first one for the
// plans and phases that it depends on.
func (g *gsdFolder) addTaskNeeds() {
	for _, p := range g.plans {
		whole := &importItem{filePosition: p.filePosition, name: "plan " + p.name, out: Changed}
		whole.task.Title = p.title
		if p.done != "" {
			whole.out, whole.why = Done, p.done
		}
		g.d.addItem(whole)
		for i, it := range p.tasks {
			if i > 0 {
				it.needs = append(it.needs, needReference{filePosition: it.filePosition, name: p.tasks[i-1].name})
			} else {
				it.needs = g.firstTaskNeeds(p)
			}
			g.d.addItem(it)
		}
		if n := len(p.tasks); n > 0 {
			whole.parts = []string{p.tasks[n-1].name}
		} else if p.done == "" {
			whole.out, whole.why = Lost, "it has no task that an agent can do"
		}
	}
}

// firstTaskNeeds returns the needs of the first task of a plan.
func (g *gsdFolder) firstTaskNeeds(p *gsdPlan) []needReference {
	var needs []needReference
	inner := false
	for _, r := range p.needs {
		name, ok := g.resolvePlanName(r.name, p.phase)
		switch {
		case ok:
			inner = inner || strings.HasPrefix(name, p.phase+"-")
			needs = append(needs, needReference{filePosition: r.filePosition, name: "plan " + name})
		case g.alone:
			g.d.addRemark(Lost, r.filePosition, p.name, "the need of "+r.name, "that plan is not read")
		case !g.ticked[name] && !g.isArchivedPlan(name):
			g.d.addProblem(r.filePosition, "depends_on names %q, and there is no such plan; correct it, or remove it if that is done", r.name)
		}
	}
	if inner {
		return needs
	}
	for _, number := range g.requiredPhases(p.phase) {
		for _, o := range g.plans {
			if o.phase == number && o.done == "" && len(o.tasks) > 0 {
				needs = append(needs, needReference{filePosition: p.filePosition, name: "plan " + o.name})
			}
		}
	}
	return needs
}

// isArchivedPlan reports whether a plan's phase comes before all existing ones: it is done and archived.
func (g *gsdFolder) isArchivedPlan(name string) bool {
	phase, _, _ := strings.Cut(name, "-")
	return startsWithDigit().MatchString(phase) && !slices.ContainsFunc(g.plans,
		func(p *gsdPlan) bool { return compareNumbers(p.phase, phase) <= 0 })
}

// resolvePlanName returns the name of the plan that a need refers to: 01-02, 02 in the same phase,
// 01-name-02, or a file.
func (g *gsdFolder) resolvePlanName(need, phase string) (string, bool) {
	need = trimZeros(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path.Base(need), ".md"), "-PLAN"), "-SUMMARY"))
	if onlyDigits().MatchString(need) {
		need = phase + "-" + need
	}
	if m := planName().FindStringSubmatch(need); m != nil {
		need = trimZeros(m[1] + "-" + m[2])
	}
	return need, slices.ContainsFunc(g.plans, func(p *gsdPlan) bool { return p.name == need })
}

// requiredPhases returns the phases on which one depends: those in the roadmap, or else the one
// before it.
func (g *gsdFolder) requiredPhases(number string) []string {
	if i := slices.IndexFunc(g.phases, func(p *gsdPhase) bool { return p.number == number }); i >= 0 &&
		(g.phases[i].free || len(g.phases[i].needs) > 0) {
		return g.phases[i].needs
	}
	before := ""
	for _, p := range g.plans {
		if compareNumbers(p.phase, number) < 0 && (before == "" || compareNumbers(p.phase, before) > 0) {
			before = p.phase
		}
	}
	if before == "" {
		return nil
	}
	return []string{before}
}
