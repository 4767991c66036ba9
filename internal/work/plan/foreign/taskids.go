package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// assignTaskIDs gives each item that becomes a task an ID: its own name if that is valid, or else a
// similar one.
func (d *importedPlanDraft) assignTaskIDs() map[*importItem]nexus.TaskID {
	taken := map[string]bool{"plan": true, "train": true, "result": true}
	ids := map[*importItem]nexus.TaskID{}
	var renamed []string
	var at importFilePosition
	open := d.itemsThatBecomeTasks()
	for _, it := range open {
		if lower := strings.ToLower(it.name); taskIDPattern.MatchString(it.name) && !taken[lower] {
			taken[lower] = true
			ids[it] = nexus.TaskID(it.name)
		}
	}
	for _, it := range open {
		if ids[it] != "" {
			continue
		}
		id := freeSimilarID(it.name, taken)
		taken[strings.ToLower(id)] = true
		ids[it] = nexus.TaskID(id)
		if it.name != "" {
			if at.file == "" {
				at = it.importFilePosition
			}
			renamed = append(renamed, it.name+" is "+id)
		}
	}
	if len(renamed) > 0 {
		d.addRemark(Changed, at, "", "ids: "+joinFirst(renamed, 3), "an id is a letter followed by at most 31 letters, digits, - or _")
	}
	return ids
}

// freeSimilarID returns a free ID that is similar to a name.
func freeSimilarID(name string, taken map[string]bool) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, name)
	id = strings.Trim(id, "-_")
	if id == "" || id[0] >= '0' && id[0] <= '9' || taken[strings.ToLower(id)] && !strings.HasPrefix(id, "T") {
		id = "T" + id
	}
	const longest = 27 // with a number it is still a valid ID
	id = strings.TrimRight(id[:min(len(id), longest)], "-_")
	free := id
	for n := 2; taken[strings.ToLower(free)] || free == "T"; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
		if id == "T" {
			free = fmt.Sprintf("T%d", n-1)
		}
	}
	return free
}

// joinFirst joins the first items and adds how many more there are.
func joinFirst(items []string, most int) string {
	if len(items) <= most+1 {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// findItem returns the item of a need: by its name or else its title.
func (d *importedPlanDraft) findItem(name string) *importItem {
	if it := d.names[foldName(name)]; it != nil {
		return it
	}
	if d.titles == nil {
		d.titles = map[string]*importItem{}
		for _, it := range d.items {
			if t := foldName(it.task.Title); d.titles[t] == nil && t != "" {
				d.titles[t] = it
			}
		}
	}
	return d.titles[foldName(name)]
}

// foldName returns a name or title without differences of case and spaces.
func foldName(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// resolveNeeds returns the tasks that an item needs and wants. It adds tasks that needed an omitted
// item to freed.
func (d *importedPlanDraft) resolveNeeds(it *importItem, ids map[*importItem]nexus.TaskID, freed map[*importItem][]string) (hard, soft []nexus.TaskID) {
	var needs []nexus.TaskID
	seen := map[*importItem]bool{}
	var follow func(r foreignNeed)
	follow = func(r foreignNeed) {
		o := d.findItem(r.name)
		switch {
		case r.soft && (o == nil || o == it):
			d.addRemark(Lost, r.importFilePosition, it.name, "the soft need of "+sanitize.TruncateText(r.name, 100), "no other task here has this id or title")
			return
		case o == nil:
			hint := ""
			if len(d.problems) < maxProblems { // comparing with all names takes long
				hint = d.suggestItemName(r.name)
			}
			d.addProblem(r.importFilePosition, "%s needs %q, which is not the id or title of a task here%s", it.displayName(), sanitize.TruncateText(r.name, 100), hint)
			return
		case o == it:
			d.addProblem(r.importFilePosition, "%s needs itself; remove that need", it.displayName())
			return
		case seen[o] || !d.hasRoomFor(r.importFilePosition, 0, len(o.parts)) || slices.Contains(o.parts, it.name):
			return
		}
		seen[o] = true
		for _, part := range o.parts {
			follow(foreignNeed{importFilePosition: r.importFilePosition, name: part, soft: r.soft})
		}
		switch {
		case len(o.parts) > 0:
		case o.out != "":
			freed[o] = append(freed[o], it.name)
		default:
			needs = append(needs, ids[o])
		}
	}
	for _, r := range it.needs {
		if r.soft {
			continue
		}
		follow(r)
	}
	hard, needs = needs, nil
	for _, r := range it.needs {
		if r.soft {
			follow(r)
		}
	}
	return hard, needs
}
