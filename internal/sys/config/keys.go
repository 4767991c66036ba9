package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// Key documents one setting.
type Key struct {
	Name    string   // dotted; a segment "*" stands for any name
	Type    string   // what a value looks like, for people
	Doc     string   // what it means
	Default string   // as it would be written; empty: unset
	Values  []string // the only ones, where they are few
	Env     string   // environment variable; empty: cannot be set there
	Trusted string   // why the project's file may not set it; empty: it may

	kind  kind.Kind
	least bool                                // the project's file may only lower it
	adds  bool                                // what the layers set is put together, none takes away
	set   func(c *Config, name string, v any) // v is what kind reads; name fills the "*"
	get   func(c Config) []setting
}

// schema returns the JSON Schema of the key's values.
func (k Key) schema() map[string]any { return k.kind.Schema }

// setting is one value of a key: several where the key has a "*".
type setting struct {
	name  string
	value any
}

// Keys returns every setting in the order of its documentation.
func Keys() []Key {
	keys := slices.Concat(
		limitKeys(), boundKeys(), modelKeys(), agentKeys(), routingKeys(), gateKeys(), packageKeys(), doneKeys(), planKeys(), pointKeys(), policyKeys(), networkKeys(),
		serverKeys(), hookKeys(), pluginKeys(), pipelineKeys(), languageKeys(), environmentKeys(), channelKeys(), notifyKeys(), memoryKeys(), improveKeys(), lessonKeys(), telemetryKeys(), runKeys(),
	)
	d := Default()
	for i := range keys {
		k := &keys[i]
		k.Type = k.kind.Says
		if !strings.Contains(k.Name, "*") {
			for _, s := range k.get(d) {
				k.Default = kind.Show(s.value)
			}
		}
		section, _, _ := strings.Cut(k.Name, ".")
		if !slices.Contains([]string{"pricing", "mcp", "hooks", "plugins", "pipeline", "lsp", "packages"}, section) {
			k.Env = variable(k.Name)
		}
	}
	return keys
}

// variable returns the environment variable of a key: its name in upper case
// behind NEXUS_, with underscores for everything else.
func variable(name string) string {
	return prefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

const prefix = "NEXUS_"

func limitKeys() []Key {
	const told = "it decides when you are alerted"
	const lower = "the project's file may lower it, not raise it"
	return []Key{
		one("limits.parallel", kind.Whole(1, 256), "maximum number of attempts at once", func(c *Config) *int { return &c.Limits.Parallel }),
		many("limits.per_role.*", kind.Whole(0, 256), "sessions of this role at once", func(c *Config) *map[nexus.Role]int { return &c.Limits.PerRole }),
		one("limits.turns", kind.Whole(1, 10_000), "model calls in a session", func(c *Config) *int { return &c.Limits.Turns }),
		one("limits.rounds", kind.Whole(1, 10_000), "times an agent may write, over all attempts of a task", func(c *Config) *int { return &c.Limits.Rounds }),
		tier("limits.per_tier.fast", nexus.Fast),
		tier("limits.per_tier.balanced", nexus.Balanced),
		tier("limits.per_tier.strong", nexus.Strong),
		one("limits.dispatches", kind.Whole(0, 1_000_000), "attempts started in a run; 0: no cap", func(c *Config) *int { return &c.Limits.Dispatches }),
		one("run.batch", kind.Whole(1, 4), "maximum number of small tasks of one kind that one coder's session does one after the other, each with its own worktree, gates, review and commit (docs/plan.md); 1: each task has its own session", func(c *Config) *int { return &c.Limits.Batch }),
		one("limits.same", kind.Whole(1, 100), "equal failures, or equal trees, that end a repair", func(c *Config) *int { return &c.Limits.Same }),
		one("limits.review_rounds", kind.Whole(0, 100), "rejected reviews in an attempt; 0: no cap", func(c *Config) *int { return &c.Limits.ReviewRounds }),
		one("limits.losses", kind.Whole(0, 1000), "times an attempt may lose its process; 0: no cap", func(c *Config) *int { return &c.Limits.Losses }),
		one("limits.land_tries", kind.Whole(0, 1000), "times an accepted attempt may fail to land; 0: no cap", func(c *Config) *int { return &c.Limits.LandTries }),
		one("acceptance.checks", kind.Words("auto", "always", "off"), "whether a tester names a test for each criterion without a check; it must fail without the work and pass with it. auto: a tester that works on the task anyway names it, or one extra session if no command of the task's own shows it; always: one session for every task with such a criterion", func(c *Config) *string { return &c.Checks }),
		one("acceptance.independent", kind.Words("auto", "always", "off"), "whether a criterion that only tests of the change itself show gets a check by a session that sees the goal and the code before the change, and nothing of the change; it must fail without the change and pass with it. auto: where the change edits code that exists; always: for every such criterion", func(c *Config) *string { return &c.Independent }),
		one("acceptance.fixes", kind.Whole(0, 20), "rounds of extra tasks that fix criteria whose check fails on the combined result of all tasks; 0: none", func(c *Config) *int { return &c.Limits.Fixes }),
		one("limits.majors_block", kind.Whole(1, 1000), "major review findings that block", func(c *Config) *int { return &c.Limits.MajorsBlock }),
		one("limits.calls", kind.Whole(0, 1_000_000), "tool calls in a session; 0: no cap", func(c *Config) *int { return &c.Limits.Calls }),
		one("limits.tool_calls", kind.Whole(0, 1_000_000), "calls of one tool in a session; 0: no cap", func(c *Config) *int { return &c.Limits.ToolCalls }),
		one("limits.failed_calls", kind.Whole(0, 1_000_000), "failed tool calls in a session; 0: no cap", func(c *Config) *int { return &c.Limits.FailedCalls }),
		one("limits.failed_in_row", kind.Whole(0, 1_000_000), "failed tool calls in a row; 0: no cap", func(c *Config) *int { return &c.Limits.FailedInRow }),
		one("limits.session_tokens", kind.Whole64(), "input and output tokens of a session; 0: no cap", func(c *Config) *int64 { return &c.Limits.SessionTokens }),
		one("limits.quota", kind.Whole(1, 100), "percent of an agent program's quota, such as the 5-hour window of Claude Code, at which it starts no new session until the window resets; sessions in progress continue; 100: only when the quota is used up", func(c *Config) *int { return &c.Limits.Quota }),
		one("limits.compact", kind.Whole(5, 95), "percent of the model's context at which a conversation is compacted; it is compacted earlier if there is no room left for an answer", func(c *Config) *int { return &c.Limits.Compact }),
		one("limits.turn_time", kind.Span(), "longest silence of the model in a turn; only content counts, not a ping or an empty chunk; raise it for models that think long without output; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TurnTime }),
		one("limits.answer_time", kind.Span(), "time for one answer of a model, from the request to its end; a longer one is cancelled and requested again; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.AnswerTime }),
		one("limits.gate_time", kind.Span(), "one gate; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.GateTime }),
		one("limits.session_time", kind.Span(), "one session; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.SessionTime }),
		one("limits.task_time", kind.Span(), "all attempts of a task together; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TaskTime }),
		one("limits.run_time", kind.Span(), "the run; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.RunTime }),
		one("alerts.denials", kind.Whole(0, 10_000), "refused tool calls allowed per minute before people are alerted; 0: never alert", func(c *Config) *int { return &c.Limits.Alerts.Denials }).trusted(told),
		one("alerts.failures", kind.Whole(0, 10_000), "failed model calls and attempts allowed per minute before people are alerted; 0: never alert", func(c *Config) *int { return &c.Limits.Alerts.Failures }).trusted(told),
		one("alerts.stuck", kind.Span(), "silence of an attempt after which people are alerted; 0s: never", func(c *Config) *time.Duration { return &c.Limits.Alerts.Stuck }).trusted(told),
		one("alerts.tokens", kind.Whole(0, 100), "percent of limits.session_tokens or budget.tokens at which people are alerted; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Tokens }).trusted(told),
		one("alerts.rounds", kind.Whole(0, 10_000), "rounds of a task, over all its attempts, at which people are alerted that it may need help; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Rounds }).trusted(told),
		one("alerts.memory", kind.Whole(0, 100), "percent of the machine's memory in use at which people are alerted; 0: never",
			func(c *Config) *int { return &c.Limits.Alerts.Memory }).trusted(told),
		one("alerts.disk", kind.Size(), "free space on the disk of the state below which people are alerted; 0: never alert",
			func(c *Config) *int64 { return &c.Limits.Alerts.Disk }).trusted(told),
		one("alerts.lasting", kind.Span(), "how long memory or disk must be past its bound before people are alerted, and back within before the alert is cleared",
			func(c *Config) *time.Duration { return &c.Limits.Alerts.Lasting }).trusted(told),
		one("alerts.denied", kind.Words("tell", "pause", "stop"), "what an alert about refused calls does besides notifying: pause pauses the run until nexus resume if somebody is there, and otherwise stops it; stop ends it with code 5",
			func(c *Config) *nexus.Reaction { return &c.Limits.Alerts.Denied }).trusted(told),
		one("budget.run", kind.Dollars(), "dollars that a run may spend; "+lower, func(c *Config) *nexus.Money { return &c.Limits.RunMoney }).lowered(),
		one("budget.task", kind.Dollars(), "dollars that one task may spend; 0: no cap; "+lower, func(c *Config) *nexus.Money { return &c.Limits.TaskMoney }).lowered(),
		one("budget.day", kind.Dollars(), "dollars that all runs of a day (UTC) may spend, in all repositories together; 0: no cap; "+lower, func(c *Config) *nexus.Money { return &c.Limits.DayMoney }).lowered(),
		many("budget.roles.*", kind.Dollars(), "dollars that all sessions of this role may spend in a run; 0: no cap", func(c *Config) *map[nexus.Role]nexus.Money { return &c.Limits.RoleMoney }),
		many("budget.providers.*", kind.Dollars(), "dollars that a run may spend at this provider; 0: no cap", func(c *Config) *map[string]nexus.Money { return &c.Limits.ProviderMoney }),
		one("budget.tokens", kind.Whole64(), "tokens that a run may use of models without a known price, which are not counted in dollars; 0: such models are refused",
			func(c *Config) *int64 { return &c.Limits.RunTokens }).trusted("it allows models without a known price"),
	}
}

func modelKeys() []Key {
	const key = "it decides where keys and code are sent"
	const price = "it decides what counts against the budget"
	return []Key{
		model("models.fast", nexus.Fast),
		model("models.balanced", nexus.Balanced),
		model("models.strong", nexus.Strong),
		one("models.list", kind.Address(), "where nexus models refresh fetches the public list of models from", func(c *Config) *string { return &c.ModelList }).trusted(price),
		part("roles.*.model", kind.ModelName(), "model of this role, as provider/model", roles, func(r *Role) *string { return &r.Model }),
		part("roles.*.tier", kind.Words("fast", "balanced", "strong"), "tier of this role; coder and tester have none: they work at the tier of their task", roles, func(r *Role) *nexus.Tier { return &r.Tier }),
		part("roles.*.effort", kind.Words("none", "minimal", "low", "medium", "high", "xhigh", "max"), "reasoning effort of models in this role; a model without this level gets the next lower one, and a model without the setting ignores it", roles, func(r *Role) *string { return &r.Effort }),
		part("providers.*.kind", kind.Words("anthropic", "openai", "responses", "gemini", "bridge"), "API that the endpoint speaks: Messages, Chat Completions, Responses, generateContent; bridge: requests are files that a person or a program answers", providers, func(p *Provider) *string { return &p.Kind }).trusted(key),
		part("providers.*.base_url", kind.Address(), "address of the endpoint; without one, the provider's own", providers, func(p *Provider) *string { return &p.BaseURL }).trusted(key),
		part("providers.*.dir", kind.Text(), "directory of a bridge, where requests are written and answers awaited", providers, func(p *Provider) *string { return &p.Dir }).trusted("it decides where files are written"),
		part("providers.*.server", kind.Text(), "server software, if the address does not show it: openrouter, ollama, vllm, lmstudio, llamacpp or compatible", providers, func(p *Provider) *string { return &p.Server }).trusted(key),
		part("providers.*.key_env", kind.VarName(), "environment variable that holds the key", providers, func(p *Provider) *string { return &p.KeyEnv }).trusted(key),
		part("providers.*.percent", kind.Whole(0, 10_000), "price in percent of the list price, such as 110 if regional data storage costs 10 % more; 0 means 100", providers, func(p *Provider) *int { return &p.Percent }).trusted(price),
		part("pricing.*.input", kind.Dollars(), "dollars for a million input tokens of this provider/model", pricing, func(p *Price) *nexus.Money { return &p.Input }).trusted(price),
		part("pricing.*.output", kind.Dollars(), "dollars for a million output tokens", pricing, func(p *Price) *nexus.Money { return &p.Output }).trusted(price),
		part("pricing.*.cache_read", kind.Dollars(), "dollars for a million tokens read from the cache; 0: as much as input", pricing, func(p *Price) *nexus.Money { return &p.CacheRead }).trusted(price),
		part("pricing.*.cache_write", kind.Dollars(), "dollars for a million tokens written to the cache; 0: as much as input", pricing, func(p *Price) *nexus.Money { return &p.CacheWrite }).trusted(price),
	}
}

func routingKeys() []Key {
	tiers := kind.Words("fast", "balanced", "strong")
	complexity := func(c nexus.Complexity) Key {
		return entry("routing."+string(c), tiers, "tier where "+string(c)+" tasks start", c, func(c *Config) *map[nexus.Complexity]nexus.Tier { return &c.Routing.Tiers })
	}
	sort := func(k nexus.TaskKind) Key {
		return entry("routing.kinds."+string(k), tiers, "tier where tasks of the kind "+string(k)+" start, whatever their complexity", k,
			func(c *Config) *map[nexus.TaskKind]nexus.Tier { return &c.Routing.Kinds })
	}
	return []Key{
		one("routing.order", kind.List("manual", "adaptive", "model", "keyword"), "what sets a task's complexity; the first that answers wins: the plan (manual), "+
			"earlier runs, from ten attempts on (adaptive), a model asked once for all tasks (model), keywords in its text (keyword)",
			func(c *Config) *[]string { return &c.Routing.Order }),
		complexity(nexus.Simple), complexity(nexus.Medium), complexity(nexus.Complex), complexity(nexus.Expert),
		sort(nexus.CodeTask), sort(nexus.TestTask), sort(nexus.DocsTask),
		one("routing.strategy", kind.Words("auto", string(nexus.TDDStrict), string(nexus.TDDLite), string(nexus.TDDSimple), string(nexus.TestAfter)),
			"order in which code and tests are written, if the plan does not say; auto: tests first, by another agent, for complex tasks and those that touch security or a public API; no tests for pure renames; code first for the rest",
			func(c *Config) *string { return &c.Routing.Strategy }),
	}
}

func gateKeys() []Key {
	const doc = "command of the gate, run in the sandbox; false turns it off; if not set, it is detected"
	return []Key{
		gate("gates.build", doc),
		gate("gates.lint", doc),
		gate("gates.test", doc),
		gate("gates.secrets", "false turns off the search for secrets in added lines; a command runs in addition to it"),
		one("review.personas", kind.List(Personas()...), "reviewers of a change, in parallel, each for one kind of problem and with its own cost; if empty, one reviewer looks for everything",
			func(c *Config) *[]string { return &c.Personas }),
		one("gates.order", kind.List(), "gates that come first, in this order", func(c *Config) *[]string { return &c.Gates.Order }),
		one("gates.ui", kind.Texts(), "patterns of user interface files; the gate e2e judges only changes to these. A pattern without a slash matches file names, ** stands for any directories, * alone for any file; []: pages, styles, templates, components, their tests and libraries", func(c *Config) *[]string { return &c.Gates.UI }),
		one("regression.sample", kind.Whole(0, 100), "number of criteria of earlier runs to check again on the base before a run starts; 0: none", func(c *Config) *int { return &c.Regression.Sample }),
		one("regression.time", kind.Span(), "total time for these checks; 0s: no limit", func(c *Config) *time.Duration { return &c.Regression.Time }),
		one("mutation.mode", kind.Words("off", "warn", "block"), "whether to insert faults into new lines and see if tests catch them: warn lists those that no test catches, block sends the work back to fix them", func(c *Config) *string { return &c.Mutation.Mode }),
		one("mutation.sample", kind.Whole(1, 1000), "maximum number of faults tried per tree", func(c *Config) *int { return &c.Mutation.Sample }),
		one("mutation.time", kind.Span(), "total time for the faults; 0s: derived from how long the tests take, 30s to 20m", func(c *Config) *time.Duration { return &c.Mutation.Time }),
		one("gates.timeout", kind.Span(), "time for one gate; 0s: limits.gate_time", func(c *Config) *time.Duration { return &c.Gates.Timeout }),
		one("gates.linger", kind.Span(), "how long a test runner may be silent after it reported all results, before it counts as hanging and is killed; 0s: forever",
			func(c *Config) *time.Duration { return &c.Gates.Linger }),
		one("gates.related", kind.Words("task", "deferred", "off"), "when to run only the tests that a change affects: task, before all tests each time; "+
			"deferred, instead of all tests until the work lands; off, never", func(c *Config) *string { return &c.Gates.Related }),
		one("gates.scope", kind.Words("affected", "all"), "in a repository with several packages, whose gates check a change: affected, those of the packages that it touches and of all that need them, or of all packages if that is unknown; all, those of all packages", func(c *Config) *string { return &c.Gates.Scope }),
		one("gates.fix", kind.Words("changed", "off"), "changed: the project's formatters and linters fix the files of a change before they check them", func(c *Config) *string { return &c.Gates.Fix }),
		one("gates.ci", kind.Boolean(), "run gates with CI=true, if your environment does not set CI, so that test runners write no expectations themselves", func(c *Config) *bool { return &c.Gates.CI }),
		many("gates.*", kind.Command(), "command of a gate of your own; it passes when it exits 0", func(c *Config) *map[string]string { return &c.Gates.Commands }),
	}
}

// Personas returns the names of those who may read a change.
func Personas() []string { return []string{"correctness", "security", "tests", "maintainability"} }

// pointKeys are the settings of checkpoints.
func pointKeys() []Key {
	var reasons []string
	for _, r := range nexus.Reasons() {
		reasons = append(reasons, string(r))
	}
	return []Key{
		one("checkpoint.on", kind.List(reasons...), "when a run makes a checkpoint automatically. wave: when all tasks of a wave have ended; risk: before a change lands that is large or touches dependencies or files that decide what runs; publish: before the result is published; failure: before a task is given up", func(c *Config) *[]nexus.Reason { return &c.Limits.Points.On }),
		one("checkpoint.every", kind.Span(), "working time between two automatic checkpoints; 0s: none", func(c *Config) *time.Duration { return &c.Limits.Points.Every }),
		one("checkpoint.keep", kind.Whole(0, 10_000), "how many automatic checkpoints of a run to keep; those made by hand always stay; 0: all", func(c *Config) *int { return &c.Limits.Points.Keep }),
		one("checkpoint.age", kind.Span(), "age at which nexus clean removes an automatic checkpoint; 0s: never", func(c *Config) *time.Duration { return &c.Limits.Points.Age }),
	}
}

func planKeys() []Key {
	return []Key{
		one("plan.minutes", kind.Whole(1, 100_000), "longest estimate of a task", func(c *Config) *int { return &c.Limits.Size.Minutes }),
		one("plan.files", kind.Whole(1, 100_000), "maximum number of files that a task may name", func(c *Config) *int { return &c.Limits.Size.Files }),
		one("plan.criteria", kind.Whole(1, 100_000), "maximum number of acceptance criteria per task", func(c *Config) *int { return &c.Limits.Size.Criteria }),
		one("plan.characters", kind.Whole(1, 1_000_000), "longest text of a task", func(c *Config) *int { return &c.Limits.Size.Characters }),
		one("plan.refusals", kind.Whole(0, 100), "how often a person may refuse a plan with a reason and get another one; 0: never",
			func(c *Config) *int { return &c.Limits.Refusals }),
		one("backlog.active", kind.Whole(1, 100), "backlog items in progress at once", func(c *Config) *int { return &c.Limits.Items }),
		one("discover.strategies", kind.Texts(), "strategies of nexus discover, such as todo, or -todo to leave one out; []: all but issues and ideas",
			func(c *Config) *[]string { return &c.Discover.Strategies }),
		one("discover.keep", kind.Span(), "how long nexus discover keeps its findings for an unchanged tree; 0s: until the tree changes",
			func(c *Config) *time.Duration { return &c.Discover.Keep }),
		one("discover.tasks", kind.Text(), "folder of tasks, below the root of the repository: pending, completed and logs are in it",
			func(c *Config) *string { return &c.Discover.Tasks }),
		one("interview.when", kind.Words("vague", "never", "always"), "when nexus run and nexus plan first ask the person at the terminal about a goal. vague: if its text leaves open what to build. If nobody is there, the planner states its assumptions", func(c *Config) *string { return &c.Interview }),
		one("replan.time", kind.Whole(0, 100_000), "percent of a task's estimate after which Nexus decides how the task continues; 0: never", func(c *Config) *int { return &c.Limits.Replan.Time }),
		one("replan.least", kind.Span(), "time that every task may take before replan.time applies", func(c *Config) *time.Duration { return &c.Limits.Replan.Least }),
		one("replan.rounds", kind.Whole(0, 100), "percent of limits.rounds after which Nexus decides; 0: never", func(c *Config) *int { return &c.Limits.Replan.Rounds }),
		one("replan.files", kind.Whole(0, 100_000), "files that a task may change beyond those that it declares before Nexus decides; 0: any number", func(c *Config) *int { return &c.Limits.Replan.Files }),
		one("replan.failures", kind.Whole(0, 10_000), "red rounds in a row after which Nexus decides; 0: never", func(c *Config) *int { return &c.Limits.Replan.Failures }),
		one("plan.oversize", kind.Words("ask", "split", "refuse"), "what to do with tasks of a plan file that are too large. ask: ask a person, refuse the plan if nobody is there; split: split them by files, layers or time, without a model; refuse: refuse the plan", func(c *Config) *string { return &c.Oversize }),
		one("plan.parts", kind.Whole(1, 100), "maximum number of parts when a task is split because it is stuck or too large", func(c *Config) *int { return &c.Limits.Parts }),
		one("plan.depth", kind.Whole(0, 100), "how often a part may be split again; 0: tasks are not split", func(c *Config) *int { return &c.Limits.Depth }),
		one("plan.second_look", kind.Words(string(nexus.LookAuto), string(nexus.LookNever), string(nexus.LookAlways)),
			"whether a second model checks that a plan covers its goal. auto: if the goal says more than one thing; what is missing goes back to the planner once and is then reported",
			func(c *Config) *nexus.SecondLook { return &c.Limits.SecondLook }),
	}
}

func policyKeys() []Key {
	const open = "it lets agents run commands unknown to the built-in rules"
	const of = ", given by their first words"
	return []Key{
		one("policy.allow", kind.Beginnings(), "commands that may run although the built-in rules do not know their program"+of+"; what the built-in rules deny stays denied",
			func(c *Config) *[]string { return &c.Policy.Allow }).trusted(open).added(),
		one("policy.ask", kind.Beginnings(), "commands that wait for a person"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Ask }).added(),
		one("policy.deny", kind.Beginnings(), "commands that are refused"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Deny }).added(),
		one("policy.show", paths(), "files and directories, as patterns, that agents may see although their names suggest secrets or they contain some; keys in them stay masked",
			func(c *Config) *[]string { return &c.Policy.Show }).trusted("it decides which of your secrets agents can read").added(),
		one("goals.deny", kind.Phrases(), "phrases that no goal and no text of a plan file may contain, as consecutive words; * stands for up to twelve words; each file may add", func(c *Config) *[]string { return &c.Forbidden }).added(),
		part("roles.*.allow", kind.Beginnings(), "policy.allow for this role", roles, func(r *Role) *[]string { return &r.Policy.Allow }).trusted(open).added(),
		part("roles.*.ask", kind.Beginnings(), "policy.ask for this role", roles, func(r *Role) *[]string { return &r.Policy.Ask }).added(),
		part("roles.*.deny", kind.Beginnings(), "policy.deny for this role", roles, func(r *Role) *[]string { return &r.Policy.Deny }).added(),
	}
}

func runKeys() []Key {
	const guards = "it guards your own checkout and machine"
	var levels, sets []string
	for _, a := range nexus.Approvals() {
		levels = append(levels, string(a))
	}
	for _, p := range Presets() {
		sets = append(sets, says(p))
	}
	return []Key{
		one("ui.watch", kind.Words(WatchAuto, WatchAlways, WatchNever), "whether nexus run and nexus resume show the run on the whole screen: auto, when its first tasks start, on a terminal of at least 60 columns and 15 lines; always, from the start, with the run in the background, as --watch does; never, as lines",
			func(c *Config) *string { return &c.Watch }).trusted("it decides what your terminal shows"),
		many("keys.*", kind.Text(), "key for an action of the terminal interface, such as approve, skip or palette (docs/run-and-watch.md lists them); none: no key",
			func(c *Config) *map[string]string { return &c.Keys }).trusted("it decides what your keys do"),
		one("preset", kind.Words(Presets()...), "defaults for what you did not set: "+strings.Join(sets, "; "), func(c *Config) *string { return &c.Preset }).
			trusted("it decides what is spent and what happens without you"),
		one("approval", kind.Words(levels...), "what waits for a person: nothing; commands that policy asks about; and publishing; and the plan and every command. "+
			"The project's file may let more wait, not less", func(c *Config) *nexus.Approval { return &c.Limits.Approval }),
		one("review.people", kind.Words(peopleLevels()...), "changes that need a person's review before they land: none; those with a risky file; all. The project's file may require more, not less",
			func(c *Config) *nexus.ReviewPeople { return &c.Limits.Review.People }),
		one("review.resolve_fixed", kind.Boolean(), "resolve a person's comment of the kind must once a fix that changed its lines is accepted by gates and reviewers; otherwise a person resolves it", func(c *Config) *bool { return &c.Limits.Review.Fixed }).
			trusted("it decides what lands without you"),
		one("questions.timeout", kind.Span(), "how long a question waits for an answer before its fallback applies, which is never a yes to a command or to publishing; 0s: forever", func(c *Config) *time.Duration { return &c.Patience }).trusted("it decides how long a run waits for you"),
		one("step", kind.Boolean(), "work on one task at a time, and ask a person before each starts", func(c *Config) *bool { return &c.Limits.Step }),
		one("precheck.strict", kind.Boolean(), "treat notices of nexus doctor as blockers", func(c *Config) *bool { return &c.Precheck.Strict }).trusted(guards),
		one("precheck.skip", kind.List(checks()...), "checks to skip before a run", func(c *Config) *[]string { return &c.Precheck.Skip }).trusted(guards),
		one("precheck.dirty", kind.Words("allow", "notice", "refuse"), "how to treat uncommitted changes in the checkout, which runs do not see: they start from the commit", func(c *Config) *string { return &c.Precheck.Dirty }).trusted(guards),
		one("sandbox", kind.Words("auto", "native", "bwrap", "landlock", "off"), "sandbox for agents and gates; the project's file may not turn it off", func(c *Config) *string { return &c.Sandbox }),
		one("context.map", kind.Whole(0, 100_000), "size in tokens of the code map for planner, coders, testers and scouts, at most a 16th of the model's context; 0: no map", func(c *Config) *int { return &c.MapTokens }),
		one("context.history", kind.Whole(0, 50_000), "how many recent commits Nexus reads to show coders and testers which files changed together with a task's files, and which commits changed them; 0: none", func(c *Config) *int { return &c.History }),
		one("context.docs", kind.Whole(0, 100_000), "maximum size in tokens of the sections from .nexus/docs that planner, coders and testers get at the start of a session; 0: none", func(c *Config) *int { return &c.Docs }),
		one("land", kind.Boolean(), "move the target branch to the result at the end of a run; if the branch moved meanwhile, merge and check again", func(c *Config) *bool { return &c.Land }).
			trusted("you decide when your branch moves"),
		one("git.notes", kind.Boolean(), "record the results of gates and reviewers for each published commit as git notes in refs/notes/nexus; Nexus does not push them", func(c *Config) *bool { return &c.Notes }),
		one("git.prefix", kind.Text(), "what the names of the branches begin with that hold the results of runs: PREFIX/RUN. No branch may be called PREFIX itself", func(c *Config) *string { return &c.Prefix }),
		one("git.protected", kind.Texts(), "patterns of branches that no run moves, such as `release/*`", func(c *Config) *[]string { return &c.Protected }).
			trusted("you decide when your branch moves"),
		one("target", kind.Text(), "target branch of runs; the default is the branch that is checked out", func(c *Config) *string { return &c.Target }),
		one("status_file", kind.Text(), "file with the current status of the run", func(c *Config) *string { return &c.StatusFile }).
			trusted("it decides which file is overwritten"),
	}
}

// These make the keys of the tables. None is inlined: every line of a table would have its
// own copies of the functions in a key, which were 0.3 MB of the program.

// one makes the key of a single value; at finds its place.
func one[T any](name string, k kind.Kind, doc string, at func(*Config) *T) Key {
	return Key{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, _ string, v any) { kind.Put(at(c), v) },
		get: func(c Config) []setting { return []setting{{name, *at(&c)}} },
	}
}

// many makes the key of a map's values.
func many[K ~string, V any](name string, k kind.Kind, doc string, at func(*Config) *map[K]V) Key {
	return Key{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, of string, v any) {
			var x V
			kind.Put(&x, v)
			store(at(c), K(of), x)
		},
		get: func(c Config) []setting {
			m := *at(&c)
			var all []setting
			for _, of := range slices.Sorted(maps.Keys(m)) {
				if full := fill(name, string(of)); !fixed(full) {
					all = append(all, setting{full, m[of]})
				}
			}
			return all
		},
	}
}

// part makes the key of one field of a map's values.
func part[K ~string, S, T any](name string, k kind.Kind, doc string, at func(*Config) *map[K]S, field func(*S) *T) Key {
	return Key{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, of string, v any) { change(at(c), K(of), func(x *S) { kind.Put(field(x), v) }) },
		get: func(c Config) []setting { return each(*at(&c), name, func(x *S) any { return *field(x) }) },
	}
}

// change changes one value of a map.
func change[K ~string, S any](m *map[K]S, of K, how func(*S)) {
	x := (*m)[of]
	how(&x)
	store(m, of, x)
}

// each returns what a map has of one field.
func each[K ~string, S any](m map[K]S, name string, field func(*S) any) []setting {
	var all []setting
	for _, of := range slices.Sorted(maps.Keys(m)) {
		x := m[of]
		all = append(all, setting{fill(name, string(of)), field(&x)})
	}
	return all
}

// entry makes the key of one known entry of a map.
func entry[K ~string, V any](name string, k kind.Kind, doc string, of K, at func(*Config) *map[K]V) Key {
	key := many(name, k, doc, at)
	set := key.set
	key.set = func(c *Config, _ string, v any) { set(c, string(of), v) }
	key.get = func(c Config) []setting {
		if v, ok := (*at(&c))[of]; ok {
			return []setting{{name, v}}
		}
		return nil
	}
	return key
}

func tier(name string, t nexus.Tier) Key {
	return entry(name, kind.Whole(0, 1000), "attempts of a task at this tier; 0: none", t, func(c *Config) *map[nexus.Tier]int { return &c.Limits.PerTier })
}

func model(name string, t nexus.Tier) Key {
	return entry(name, kind.Models(), "model of this tier, as provider/model, or a list of up to three: the next is used while the ones before it have no quota or do not answer; the default is the model of the nearest weaker tier that has one, or one of a provider that has a key. An agent program is named as a provider is: codex/gpt-5.5; in a list, agent programs come first", t,
		func(c *Config) *map[nexus.Tier]string { return &c.Models })
}

func gate(name, doc string) Key {
	_, of, _ := strings.Cut(name, ".")
	return entry(name, kind.Command(), doc, of, func(c *Config) *map[string]string { return &c.Gates.Commands })
}

func roles(c *Config) *map[nexus.Role]Role     { return &c.Roles }
func providers(c *Config) *map[string]Provider { return &c.Providers }
func pricing(c *Config) *map[string]Price      { return &c.Pricing }

func (k Key) trusted(why string) Key { k.Trusted = why; return k }
func (k Key) lowered() Key           { k.least = true; return k }
func (k Key) added() Key             { k.adds = true; return k }

// fixed reports whether a name has a key of its own besides the "*".
func fixed(name string) bool {
	return name == "gates.secrets" || name == "gates.build" || name == "gates.lint" || name == "gates.test"
}

// store writes to a copy, so that no two Configs share a map.
func store[K comparable, V any](m *map[K]V, k K, v V) {
	c := maps.Clone(*m)
	if c == nil {
		c = map[K]V{}
	}
	c[k] = v
	*m = c
}

// peopleLevels returns the words for which changes wait for a person.
func peopleLevels() []string {
	var words []string
	for _, l := range nexus.ReviewLevels() {
		words = append(words, string(l))
	}
	return words
}
