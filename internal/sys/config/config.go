// Package config reads the settings: defaults, then the organisation's file, then the user's, then
// the project's, then the environment, then flags. Later ones override earlier ones, but denials
// of the policy add up.
//
// Every setting is a [SettingKey] in one table, which validates values, documents them, and defines who
// may set them. The project's file is untrusted repository content, so it must not send money,
// keys or files elsewhere, nor open the sandbox.
package config

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Config is the complete configuration. The zero value is not usable; start with [DefaultConfig] or
// [LoadSources].
type Config struct {
	Limits      nexus.Limits
	Models      map[nexus.Tier]string // provider/model, or up to three separated by commas; a tier without one gets a model of the providers that have a key
	Roles       map[nexus.Role]RoleSettings
	Agents      map[string]AgentProgramSettings // third-party agent programs
	Providers   map[string]ProviderSettings
	Pricing     map[string]TokenPrice // by provider/model; overrides the built-in table
	ModelList   string                // URL of the public list of models
	Telemetry   TelemetrySettings
	Routing     StartTierSettings
	Gates       GateSettings
	Interview   string // when questions are asked about a goal before planning: vague, never or always
	Oversize    string // how tasks of a plan file that are too large are handled: ask, split or refuse
	Independent string // when an agent that does not see the change writes checks of it: auto, always or off
	Checks      string // when testers write checks for criteria without one: auto, always or off
	Mutation    MutationSettings
	Done        nexus.DefinitionOfDone
	Personas    []string // reviewers of a change; empty: one reviewer, for everything
	MapTokens   int      // limit of the repository map in prompts; 0: no map
	Docs        int      // limit of the documents about the code, in tokens; 0: none
	Memory      MemorySettings
	Lessons     LessonSettings
	Policy      CommandPolicySettings             // for every role, in addition to the role's own
	Servers     map[string]MCPServerSettings      // of the Model Context Protocol
	Allowed     []string                          // actions that clients of nexus mcp may do without asking a person for each call
	Editors     []string                          // the same for clients of nexus acp
	Hooks       map[string]HookSettings           // commands that run at points of a run
	Plugins     map[string]PluginSettings         // programs that answer questions
	Steps       map[string]PipelineStepSettings   // steps on the work after it is written
	Preset      string                            // sets the values that nothing else sets; see [PresetNames]
	Languages   map[string]LanguageServerSettings // language servers
	Network     NetworkAccessSettings
	Worktree    WorktreeEnvironmentSettings
	Channels    QuestionChannelSettings
	Notify      NotificationSettings // notifications for people
	Forbidden   []string             // phrases that no goal may contain
	Patience    time.Duration        // how long a question waits for an answer; 0: forever
	AutoAnswer  time.Duration        // time that people have before a model answers an ambiguous question; 0: no model answers
	Precheck    PrecheckSettings
	Discover    DiscoverySettings // discovery of work
	Bounds      ResourceBounds
	Improve     ImproveSettings   // limits of the improvement loop
	Sandbox     string            // auto, native, bwrap, landlock or off
	Protected   []string          // patterns of branches that must never move
	Prefix      string            // prefix of the published branches, before a slash
	Land        bool              // fast-forward the target at the end of a run
	Target      string            // branch that runs target; empty: the checked-out branch
	StatusFile  string            // empty: none
	Warnings    []string          // settings in the sources that have no effect, with their places
	Watch       string            // whether nexus run at a terminal shows the full-screen view
	Keys        map[string]string // of the terminal interface, by action; none: the action has no key
}

// DiscoverySettings configures the discovery of work.
type DiscoverySettings struct {
	Strategies []string // active strategies; empty: all that need neither other services nor money
	Tasks      string   // directory of tasks, below the root of the repository
}

// RoleSettings binds a role to a model or a tier. With a zero field, routing chooses.
type RoleSettings struct {
	Model  string // provider/model
	Tier   nexus.Tier
	Effort string // reasoning effort of its models
	Agent  string // agent programs for its sessions, separated by commas, and models as fallback; empty: a model
	Policy CommandPolicySettings
}

// CommandPolicySettings adds to the rules for the commands of agents. An entry is the first words of a simple
// command, such as "make deploy".
type CommandPolicySettings struct {
	Allow []string // programs that the built-in rules do not have
	Ask   []string
	Deny  []string
	Show  []string // files that agents may read although they may contain secrets
}

// NetworkAccessSettings configures the network access of commands. Gates and roles that are not listed have
// none.
type NetworkAccessSettings struct {
	Mode     string   // off or list
	Allow    []string // hosts, and presets of hosts
	Deny     []string
	Gates    []string // gates with network access
	Roles    []string // roles whose commands have network access
	Upstream bool     // through the proxy of the user's environment
}

// RolePolicy returns the rules for a role: the common ones and its own.
func (c Config) RolePolicy(role nexus.Role) CommandPolicySettings {
	own := c.Roles[role].Policy
	return CommandPolicySettings{
		Allow: slices.Concat(c.Policy.Allow, own.Allow),
		Ask:   slices.Concat(c.Policy.Ask, own.Ask),
		Deny:  slices.Concat(c.Policy.Deny, own.Deny),
	}
}

// StartTierSettings configures the tier in which work on a task starts.
type StartTierSettings struct {
	Order []string                        // strategies in the order in which they are asked
	Tiers map[nexus.Complexity]nexus.Tier // first tier by complexity
	Kinds map[nexus.TaskKind]nexus.Tier   // first tier by kind of task

	Strategy string // order of writing code and tests; auto chooses for each task
}

// ProviderSettings is a server of models.
type ProviderSettings struct {
	Kind    string // API that it speaks: anthropic, openai, responses or gemini; or one of [ChatServers]; or bridge
	Dir     string // of a bridge: directory of its requests and responses
	Server  string // server software that Kind names in place of its API
	BaseURL string // empty: the provider's own
	Percent int    // cost of calls as a percentage of the list price; 0 is 100
	KeyEnv  string // environment variable with the key; empty: the provider's usual one, or none
}

// TokenPrice is the price of a million tokens of each class. A cache price of 0 means the input price.
type TokenPrice struct {
	Input, Output, CacheRead, CacheWrite nexus.Money
}

// MemorySettings configures how much of the repository's memory agents receive, and how long it is kept.
type MemorySettings struct {
	Tokens  int    // limit of a session's memory, in tokens; 0: no memory, no proposals
	Approve string // person: proposals wait for approval; auto: they are used at once
	Embed   EmbeddingSettings
}

// EmbeddingSettings configures the source of text vectors. The zero value has none.
type EmbeddingSettings struct {
	URL   string
	Model string
}

// PrecheckSettings configures the checks before a run.
type PrecheckSettings struct {
	Strict bool     // notices also prevent the run
	Skip   []string // skipped checks
}

// precheckNames returns the names of the checks before a run, which are also those of nexus doctor.
func precheckNames() []string {
	return []string{
		"configuration", "git", "switch", "repository", "branch", "branches", "objects", "lfs", "target", "identity", "changes", "operation", "quarantine", "memory", "journal", "runs", "state", "processes",
		"locks", "files", "worktrees", "trust", "sandbox", "bounds", "network", "environment", "code", "mcp", "hooks", "plugins", "gates", "programs", "tests", "ripgrep", "golangci-lint", "go", "disk", "channels", "notify", "key", "address", "prices", "provider", "models", "plan",
	}
}

// GateSettings configure the commands that judge the work.
type GateSettings struct {
	Commands map[string]string                    // by gate's name; empty: turned off; absent: detected
	Order    []string                             // gates that run first, in this order
	UI       []string                             // patterns of user interface files; a change without any is not judged by the gate e2e; empty: the built-in patterns
	Linger   time.Duration                        // how long a test runner may run on silently after it reported its results; 0: forever
	Related  string                               // when the tests related to a change run alone: "task", "deferred" or "off"
	Packages map[string]RepositoryPackageSettings // differences in packages of the repository, by name or directory
	Fix      string                               // files that formatters and linters fix before the gates: "changed", or "off"
}

// MutationSettings configures the check whether tests detect faults in the code.
type MutationSettings struct {
	Mode   string // off, warn or block
	Sample int    // limit of the faults that are tried on a tree
	Time   time.Duration
}

// When nexus run at a terminal shows the full-screen view.
const (
	WatchAuto   = "auto"   // once tasks start
	WatchAlways = "always" // from the start of the run, in the background
	WatchNever  = "never"
)

// DefaultConfig returns the documented defaults.
func DefaultConfig() Config {
	limits := nexus.DefaultLimits()
	limits.Review.People = nexus.ReviewNone
	limits.Points = nexus.CheckpointPolicy{On: nexus.CheckpointReasons(), Every: 2 * time.Hour, Keep: 50, Age: 30 * 24 * time.Hour}
	c := Config{
		Watch:    WatchAuto,
		Limits:   limits,
		Discover: DiscoverySettings{Tasks: "tasks"},
		Improve:  ImproveSettings{Budget: 10 * nexus.Dollar, Lines: 200, Waiting: 5},
		Routing: StartTierSettings{
			Order: []string{"manual", "adaptive", "keyword"},
			Tiers: map[nexus.Complexity]nexus.Tier{
				nexus.Simple: nexus.Fast, nexus.Medium: nexus.Balanced, nexus.Complex: nexus.Strong, nexus.Expert: nexus.Strong,
			},
			Strategy: "auto",
		},
		Mutation:  MutationSettings{Mode: "warn", Sample: 4},
		Done:      nexus.DefaultDefinitionOfDone(),
		MapTokens: 2_000, Docs: 1_500, Memory: MemorySettings{Tokens: 1_000, Approve: "person"}, Checks: "auto", Independent: "auto", Oversize: "ask", Interview: "vague",
		Lessons:   LessonSettings{Enabled: true, Sample: 5},
		ModelList: "https://models.dev/api.json",
		Network:   NetworkAccessSettings{Mode: "off"}, Sandbox: "auto",
		Gates:    GateSettings{Linger: 10 * time.Second, Related: "task", Fix: "changed"},
		Prefix:   "nexus",
		Patience: 10 * time.Minute, Preset: "balanced",
		Channels: defaultChannels(), Notify: defaultNotify(),
	}
	if changeDefaults != nil {
		changeDefaults(&c)
	}
	return c
}

// ProtectedBranches returns the patterns of branches that a run must not move; none if runs move
// no branches.
func (c *Config) ProtectedBranches() []string {
	if !c.Land {
		return nil
	}
	return c.Protected
}
