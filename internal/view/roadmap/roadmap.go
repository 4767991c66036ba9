// Package roadmap handles roadmaps: ordered milestones, each with its specs, goals and
// criteria. It parses the file that people edit, changes single lines of it, finds the gaps
// of a milestone, and converts them to a goal.
package roadmap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// File is the path of a repository's roadmap, relative to its root.
const File = ".nexus/roadmap.md"

// Roadmap is an ordered list of milestones.
type Roadmap struct {
	Title      string
	Milestones []Milestone // the open ones first, in the order of the file

	lines  []string // of the file, without line ends
	end    string   // line end of the file
	open   int      // index of the line after the last open milestone
	closed int      // index of the line that starts the closed ones; -1: none
}

// Milestone is a group of goals that is reached as a whole.
type Milestone struct {
	Name     string               `json:"name"`            // the words of its title; its name on the command line
	Number   int                  `json:"number,omitzero"` // from 1 among the open ones; 0: it is closed
	Title    string               `json:"title"`
	About    string               `json:"about,omitzero"` // a person's description of it
	Tag      string               `json:"tag,omitzero"`
	Specs    []MilestonePart      `json:"specs,omitempty"` // names of specs
	Goals    []MilestonePart      `json:"goals,omitempty"` // in a person's words
	Criteria []MilestoneCriterion `json:"criteria,omitempty"`
	Closed   *ClosedMilestone     `json:"closed,omitempty"`

	from, to int // its lines, from its heading to before the next one
}

// MilestonePart is one part of a milestone.
type MilestonePart struct {
	Text string `json:"text"`
	Line int    `json:"line"` // of the file
}

// MilestoneCriterion is one criterion of a milestone.
type MilestoneCriterion struct {
	spec.SpecCriterion

	Line     int               `json:"line"`
	Accepted *PersonAcceptance `json:"accepted,omitempty"`

	last int // index of the last of its lines
}

// TextFingerprint returns a hash of a criterion's text and check.
func (c MilestoneCriterion) TextFingerprint() string { return nexus.TextFingerprint(c.Text, c.Check) }

// PersonAcceptance is a person's statement that a criterion is met that no command can show.
type PersonAcceptance struct {
	Date   string `json:"date"` // 2006-01-02
	By     string `json:"by"`
	Reason string `json:"reason"`
	Of     string `json:"of,omitzero"` // fingerprint of the criterion at that time; empty: written by hand

	line int
}

// ClosedMilestone describes how a milestone was reached.
type ClosedMilestone struct {
	Date   string `json:"date"`
	Tag    string `json:"tag"`
	Commit string `json:"commit"`
}

// Find returns the index of the milestone with a name or number, or -1.
func (r Roadmap) Find(name string) int {
	name = strings.TrimSpace(name)
	if i := slices.IndexFunc(r.Milestones, func(m Milestone) bool { return m.Name == name || strings.EqualFold(m.Title, name) }); i >= 0 {
		return i
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return -1
	}
	return slices.IndexFunc(r.Milestones, func(m Milestone) bool { return m.Number == n })
}

// MilestoneNames returns the names of the milestones.
func (r Roadmap) MilestoneNames() (all []string) {
	for _, m := range r.Milestones {
		all = append(all, m.Name)
	}
	return all
}

// NearestName returns the name that is closest to a mistyped one, or "" if none is close.
func (r Roadmap) NearestName(name string) string { return spec.NearestWord(name, r.MilestoneNames()) }

// MilestoneName derives a milestone's name from its title, or "" if the title has no usable letter or
// digit.
func MilestoneName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	const longest = 50
	name := ""
	for _, w := range words {
		next := strings.TrimPrefix(name+"-"+w, "-")
		if name != "" && len(next) > longest {
			break
		}
		name = next[:min(len(next), longest)]
	}
	return name
}
