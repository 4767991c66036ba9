// Package commandjson defines the JSON objects that commands print, for the pages and the API.
package commandjson

import "github.com/nexus-ai-builder/nexus/internal/sys/llm"

// MemoryListOutput is the output of nexus memory.
type MemoryListOutput struct {
	Episodes []MemoryListEntry `json:"episodes"`
}

// MemoryListEntry is a memory entry.
type MemoryListEntry struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	State    string `json:"state"`             // proposed, approved or forgotten
	Standing string `json:"standing"`          // whether its files changed since, such as fresh or stale
	Changed  string `json:"changed,omitempty"` // the file that makes it stale
	Text     string `json:"text"`              // Markdown
	Path     string `json:"path"`              // of its file
	Told     int    `json:"told"`              // times that agents received it
}

// RulesOutput is the output of nexus rules: the rules that agents receive wherever they work.
type RulesOutput struct {
	Tokens  int64              `json:"tokens"` // their size, estimated
	Rules   []AppliedRuleFile  `json:"rules"`
	Invoked []NamedInstruction `json:"invoked"`
	Refused []SkippedRuleFile  `json:"refused"`
}

// AppliedRuleFile is a rule file that applies.
type AppliedRuleFile struct {
	File   string `json:"file"`
	Why    string `json:"why"`
	By     string `json:"by,omitempty"`
	Tokens int    `json:"tokens"`
	Of     int    `json:"of,omitempty"` // full size in tokens, if it was cut
}

// NamedInstruction is a skill, a command or a role, which is used by name.
type NamedInstruction struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	File  string `json:"file"`
	State string `json:"state"`
}

// SkippedRuleFile is a file that is not used, with the reason.
type SkippedRuleFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// ModelsOutput is the output of nexus models.
type ModelsOutput struct {
	Models []ModelFacts `json:"models"`
}

// ModelFacts holds the known facts about a model.
type ModelFacts struct {
	Name   string              `json:"name"`             // provider/model
	Price  *llm.TokenPriceRate `json:"price"`            // current, for a short prompt; nil: unknown
	Serves []string            `json:"serves,omitempty"` // tiers, and roles that are pinned to it
}

// DoctorOutput is the output of nexus doctor.
type DoctorOutput struct {
	OK     bool          `json:"ok"`
	Checks []DoctorCheck `json:"checks"`
}

// DoctorCheck is one result of nexus doctor.
type DoctorCheck struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// ConfigOutput is the output of nexus config.
type ConfigOutput struct {
	Settings []ListedSetting `json:"settings"`
}

// ListedSetting is a value of the configuration.
type ListedSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`           // as written in a file
	From  string `json:"from"`            // default, user, project, environment or flag
	Where string `json:"where,omitempty"` // file and line, or the variable
}

// SettingExplanation is one setting with its meaning, as nexus config get prints it.
type SettingExplanation struct {
	ListedSetting

	Type    string   `json:"type"`
	Doc     string   `json:"doc"`
	Default string   `json:"default"`
	Values  []string `json:"values,omitempty"`
	Env     string   `json:"variable,omitempty"`
	Trusted string   `json:"not_in_project,omitempty"` // why the project's file may not set it
	Invalid string   `json:"wrong,omitempty"`          // why the effective value is unknown
}
