// Package commandoutput has the objects that commands print with --json, as far as the pages
// show them and the API answers with them.
package commandoutput

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

// Memory is what nexus memory list prints.
type Memory struct {
	Episodes []Episode `json:"episodes"`
}

// Episode is what was learned.
type Episode struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	State    string `json:"state"`             // proposed, approved or forgotten
	Standing string `json:"standing"`          // whether its files are as they were, such as fresh or stale
	Changed  string `json:"changed,omitempty"` // the file that makes it stale
	Text     string `json:"text"`              // Markdown
	Path     string `json:"path"`              // of its file
	Told     int    `json:"told"`              // times that agents were told it
}

// Rules is what nexus rules prints: what agents are told wherever they work.
type Rules struct {
	Tokens  int64     `json:"tokens"` // that they take, about
	Rules   []Rule    `json:"rules"`
	Invoked []Invoked `json:"invoked"`
	Refused []Refused `json:"refused"`
}

// Rule is a file of rules that holds.
type Rule struct {
	File   string `json:"file"`
	Why    string `json:"why"`
	By     string `json:"by,omitempty"`
	Tokens int    `json:"tokens"`
	Of     int    `json:"of,omitempty"` // tokens in full, where it was cut
}

// Invoked is a skill, a command or a role, which is used by its name.
type Invoked struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	File  string `json:"file"`
	State string `json:"state"`
}

// Refused is a file that is not used, and why.
type Refused struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// Models is what nexus models prints.
type Models struct {
	Models []Model `json:"models"`
}

// Model is what is known of a model.
type Model struct {
	Name   string    `json:"name"`             // provider/model
	Price  *llm.Rate `json:"price"`            // now, for a short prompt; nil: unknown
	Serves []string  `json:"serves,omitempty"` // tiers, and roles that are pinned to it
}

// Doctor is what nexus doctor prints.
type Doctor struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Check is one thing that nexus doctor looked at.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// Settings is what nexus config prints.
type Settings struct {
	Settings []Setting `json:"settings"`
}

// Setting is a value of the configuration.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`           // as a file would have it
	From  string `json:"from"`            // default, user, project, environment or flag
	Where string `json:"where,omitempty"` // file and line, or the variable
}

// Explained is one setting with what it means, as nexus config get prints it.
type Explained struct {
	Setting

	Type    string   `json:"type"`
	Doc     string   `json:"doc"`
	Default string   `json:"default"`
	Values  []string `json:"values,omitempty"`
	Env     string   `json:"variable,omitempty"`
	Trusted string   `json:"not_in_project,omitempty"` // why the project's file may not set it
	Invalid string   `json:"wrong,omitempty"`          // why nobody can say what holds
}
