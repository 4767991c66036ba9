// Package config reads what people set: defaults, then the organisation's
// file, then the user's, then the project's, then the environment, then flags;
// the later one wins, but what policy refuses is refused by all of them.
//
// Every setting is a [Key] in one table, which checks values, documents them
// and says who may set them: the project's file is repository content that
// nobody vouches for, so it may not send money, keys or files elsewhere, nor
// open the sandbox.
package config

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Config is everything that can be set. The zero Config is not usable; begin
// with [Default] or [Load].
type Config struct {
	Limits      nexus.Limits
	Models      map[nexus.Tier]string // provider/model, or up to three with commas between; a tier without one is chosen from the providers that have a key
	Roles       map[nexus.Role]Role
	Agents      map[string]Agent // agent programs of other makers
	Providers   map[string]Provider
	Pricing     map[string]Price // by provider/model; wins over the built-in table
	ModelList   string           // address of the public list of models
	Telemetry   Telemetry
	Routing     Routing
	Gates       Gates
	Interview   string // when a goal is asked about before it is planned: vague, never or always
	Oversize    string // what is done about tasks of a plan file that are too large: ask, split or refuse
	Independent string // when somebody who sees nothing of a change writes checks of it: auto, always or off
	Checks      string // when testers write checks for criteria without one: auto, always or off
	Mutation    Mutation
	Regression  Regression
	Done        nexus.DoneRules
	Personas    []string // who reads a change; none: one reader, for everything
	MapTokens   int      // most of the map that the roles are shown; 0: none
	History     int      // commits that are read to say what changed together; 0: none
	Docs        int      // most tokens of the documents about the code; 0: none
	Memory      Memory
	Lessons     Lessons
	Policy      Policy              // for every role, besides its own
	Servers     map[string]Server   // of the Model Context Protocol
	Allowed     []string            // what clients of nexus mcp may do without asking a person for each call
	Editors     []string            // the same for clients of nexus acp
	Hooks       map[string]Hook     // commands that are run at points of a run
	Plugins     map[string]Plugin   // programs that answer questions
	Steps       map[string]Step     // what is done with work once it is written
	Preset      string              // fills in what nobody set; see [Presets]
	Languages   map[string]Language // language servers
	Network     Network
	Worktree    Environment
	Channels    Channels
	Notify      Notify        // what people are told who do not look
	Forbidden   []string      // phrases that no goal may hold
	Patience    time.Duration // how long a question waits for an answer; 0: for ever
	Precheck    Precheck
	Discover    Discover // how work is found
	Bounds      Bounds
	Improve     Improve           // how modest the loop is that finds and does it
	Sandbox     string            // auto, native, bwrap, landlock or off
	Notes       bool              // evidence goes into git notes at the end of a run
	Protected   []string          // patterns of branches that are never moved
	Prefix      string            // of the branches that results are published as, before a slash
	Land        bool              // fast-forward the target at the end of a run
	Target      string            // branch that runs are meant for; empty: the one that is checked out
	StatusFile  string            // empty: none
	Watch       string            // whether nexus run at a terminal is shown on the whole screen
	Keys        map[string]string // of the terminal interface, by what they do; none: it has no key
}

// Discover says how work is found.
type Discover struct {
	Strategies []string      // that look; empty: all that neither ask others nor cost money
	Keep       time.Duration // how long something is kept that was found; 0: until what it was found in changes
	Tasks      string        // the folder of tasks, below the root of the repository
}

// Role pins a role to a model or a tier. A zero field leaves the choice to
// routing.
type Role struct {
	Model  string // provider/model
	Tier   nexus.Tier
	Effort string // how hard its models are asked to think
	Agent  string // agent programs that do its sessions, and models that do while none can, separated by commas; empty: a model does
	Policy Policy
}

// Policy adds to the rules for what agents run. An entry is the words that a
// simple command begins with, such as "make deploy".
type Policy struct {
	Allow []string // programs that the built-in rules do not know
	Ask   []string
	Deny  []string
	Show  []string // files that agents see though they may hold secrets
}

// Network says what commands may reach. Who is not named has none.
type Network struct {
	Mode     string // off or list
	Allow    []string
	Presets  []string
	Deny     []string
	Gates    []string // that have it
	Roles    []string // whose commands have it
	Upstream bool     // through the proxy of the user's environment
}

// PolicyOf returns the rules that hold for a role: everybody's and its own.
func (c Config) PolicyOf(role nexus.Role) Policy {
	own := c.Roles[role].Policy
	return Policy{
		Allow: slices.Concat(c.Policy.Allow, own.Allow),
		Ask:   slices.Concat(c.Policy.Ask, own.Ask),
		Deny:  slices.Concat(c.Policy.Deny, own.Deny),
	}
}

// Routing says where work on tasks begins.
type Routing struct {
	Order []string                        // strategies in the order in which they are asked
	Tiers map[nexus.Complexity]nexus.Tier // where work of a complexity begins
	Kinds map[nexus.TaskKind]nexus.Tier   // where tasks of a kind begin

	Strategy string // in which order code and tests are written; auto chooses for each task
}

// Provider is an endpoint that serves models.
type Provider struct {
	Kind    string // anthropic, openai, responses or gemini: the wire that it speaks; or bridge
	Dir     string // of a bridge: where requests are written and answers awaited
	Server  string // whose habits it has, where the address does not tell
	BaseURL string // empty: the provider's own
	Percent int    // what calls cost, in hundredths of the list price; 0 is 100
	KeyEnv  string // environment variable that holds the key; empty: none is sent, or the provider's usual one
}

// Price is what a million tokens of each class cost; those of the cache are
// 0 where they cost as much as input.
type Price struct {
	Input, Output, CacheRead, CacheWrite nexus.Money
}

// Memory says what of the repository's memory agents are told, and how long it is kept.
type Memory struct {
	Tokens    int    // most that a session is told; 0: nothing is told or proposed
	Approve   string // person: proposals wait for one; auto: they are told at once
	Proposals int    // days that one is kept that nobody approves; 0: for ever
	Unused    int    // days that an approved one is kept that no task needs; 0: for ever
	Embed     Embed
}

// Embed says where the vectors of texts come from. The zero Embed is nowhere.
type Embed struct {
	URL   string
	Model string
	Hosts []string // besides this machine
}

// Precheck says what a run looks at before it begins.
type Precheck struct {
	Strict bool     // notices keep it from starting, too
	Skip   []string // checks that are not made
	Dirty  string   // what a checkout with changes means: allow, notice or refuse
}

// checks returns the names of what is looked at before a run, and by nexus
// doctor.
func checks() []string {
	return []string{
		"configuration", "git", "switch", "repository", "branch", "branches", "objects", "lfs", "target", "identity", "changes", "operation", "quarantine", "memory", "journal", "runs", "state", "processes",
		"locks", "files", "worktrees", "trust", "sandbox", "bounds", "network", "environment", "code", "mcp", "hooks", "plugins", "gates", "programs", "tests", "ripgrep", "golangci-lint", "go", "disk", "channels", "notify", "key", "address", "prices", "provider", "models", "plan",
	}
}

// Gates says which commands judge the work.
type Gates struct {
	Commands map[string]string  // by gate's name; empty: turned off; absent: detected
	Order    []string           // names that come first, in this order
	UI       []string           // patterns of files of a user interface, without which the gate e2e does not judge a change; empty: those that gate knows
	Timeout  time.Duration      // of one gate; 0: the limit gate_time
	Linger   time.Duration      // how long a test runner may be silent once it told how its tests ended; 0: for ever
	Related  string             // when the tests that a change concerns run alone: "task", "deferred" or "off"
	Packages map[string]Package // what is different in packages of the repository, by name or directory
	Scope    string             // of a repository with several packages, which are judged: those that a change may break ("affected"), or "all"
	Fix      string             // what formatters and linters put right before the gates judge: "changed" files, or "off"
	CI       bool               // gates run with the variable CI
}

// Regression says what of earlier runs is tried again before a run.
type Regression struct {
	Sample int           // criteria; 0: none
	Time   time.Duration // for all of them
}

// Mutation says how it is asked whether tests notice faults.
type Mutation struct {
	Mode   string // off, warn or block
	Sample int    // most faults that are tried on a tree
	Time   time.Duration
}

// When nexus run at a terminal shows the run on the whole screen.
const (
	WatchAuto   = "auto"   // once its tasks begin
	WatchAlways = "always" // from its start, in the background
	WatchNever  = "never"
)

// Default returns the documented defaults.
func Default() Config {
	limits := nexus.DefaultLimits()
	limits.Review.People = nexus.ReviewNone
	limits.Points = nexus.Points{On: nexus.Reasons(), Every: 2 * time.Hour, Keep: 50, Age: 30 * 24 * time.Hour}
	return Config{
		Watch:    WatchAuto,
		Limits:   limits,
		Discover: Discover{Keep: 24 * time.Hour, Tasks: "tasks"},
		Improve:  Improve{Budget: 10 * nexus.Dollar, Lines: 200, Open: 3, Waiting: 5, Rest: time.Minute, MostRest: 15 * time.Minute},
		Routing: Routing{
			Order: []string{"manual", "adaptive", "keyword"},
			Tiers: map[nexus.Complexity]nexus.Tier{
				nexus.Simple: nexus.Fast, nexus.Medium: nexus.Balanced, nexus.Complex: nexus.Strong, nexus.Expert: nexus.Strong,
			},
			Strategy: "auto",
		},
		Mutation: Mutation{Mode: "warn", Sample: 4}, Regression: Regression{Sample: 3, Time: time.Minute},
		Done:      nexus.DefaultDone(),
		MapTokens: 2_000, History: 2_000, Docs: 1_500, Memory: Memory{Tokens: 1_000, Approve: "person", Proposals: 90, Unused: 365}, Notes: true, Checks: "auto", Independent: "auto", Oversize: "ask", Interview: "vague",
		Lessons:   defaultLessons(),
		ModelList: "https://models.dev/api.json",
		Network:   Network{Mode: "off"}, Sandbox: "auto",
		Gates:    Gates{Linger: 10 * time.Second, Related: "task", Scope: "affected", Fix: "changed", CI: true},
		Precheck: Precheck{Dirty: "notice"}, Prefix: "nexus",
		Patience: 10 * time.Minute, Preset: "balanced",
		Channels: defaultChannels(), Notify: defaultNotify(),
	}
}

// ProtectedBranches returns the patterns of branches that a run may not move; none where
// it moves none.
func (c *Config) ProtectedBranches() []string {
	if !c.Land {
		return nil
	}
	return c.Protected
}
