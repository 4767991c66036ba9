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

// Schema returns the JSON Schema of the key's values.
func (k Key) Schema() map[string]any { return k.kind.Schema }

// setting is one value of a key: several where the key has a "*".
type setting struct {
	name  string
	value any
}

// Keys returns every setting in the order of its documentation.
func Keys() []Key {
	keys := slices.Concat(limitKeys(), modelKeys(), routingKeys(), gateKeys(), doneKeys(), planKeys(), policyKeys(), networkKeys(), serverKeys(), languageKeys(), environmentKeys(), channelKeys(), runKeys())
	d := Default()
	for i := range keys {
		k := &keys[i]
		k.Type = k.kind.Says
		if !strings.Contains(k.Name, "*") {
			for _, s := range k.get(d) {
				k.Default = kind.Show(s.value)
			}
		}
		if !strings.HasPrefix(k.Name, "pricing.") && !strings.HasPrefix(k.Name, "mcp.") && !strings.HasPrefix(k.Name, "lsp.") {
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
	const told = "it decides when you are told"
	const dear = "the project's file may lower it, not raise it"
	return []Key{
		one("limits.parallel", kind.Whole(1, 256), "maximum number of attempts at once", func(c *Config) *int { return &c.Limits.Parallel }),
		many("limits.per_role.*", kind.Whole(0, 256), "sessions of this role at once", func(c *Config) *map[nexus.Role]int { return &c.Limits.PerRole }),
		one("limits.turns", kind.Whole(1, 10_000), "model calls in a session", func(c *Config) *int { return &c.Limits.Turns }),
		one("limits.rounds", kind.Whole(1, 10_000), "times an agent may write, over all attempts of a task", func(c *Config) *int { return &c.Limits.Rounds }),
		tier("limits.per_tier.fast", nexus.Fast),
		tier("limits.per_tier.balanced", nexus.Balanced),
		tier("limits.per_tier.strong", nexus.Strong),
		one("limits.dispatches", kind.Whole(0, 1_000_000), "attempts started in a run; 0: no cap", func(c *Config) *int { return &c.Limits.Dispatches }),
		one("limits.same", kind.Whole(1, 100), "equal failures, or equal trees, that end a repair", func(c *Config) *int { return &c.Limits.Same }),
		one("limits.review_rounds", kind.Whole(0, 100), "rejected reviews in an attempt; 0: no cap", func(c *Config) *int { return &c.Limits.ReviewRounds }),
		one("limits.losses", kind.Whole(0, 1000), "times an attempt may lose its process; 0: no cap", func(c *Config) *int { return &c.Limits.Losses }),
		one("limits.land_tries", kind.Whole(0, 1000), "times an accepted attempt may be refused by the train; 0: no cap", func(c *Config) *int { return &c.Limits.LandTries }),
		one("acceptance.checks", kind.Words("auto", "always", "off"), "whether a tester names a test for each criterion that has no check, which must fail without the work and pass with it: auto, from a tester who works on the task anyway, and in a session for it where no command of its own shows the task; always, in a session for every task with such a criterion", func(c *Config) *string { return &c.Checks }),
		one("acceptance.fixes", kind.Whole(0, 20), "rounds of tasks that a run makes to mend criteria which a check of their own finds unmet on what all tasks came to; 0: none", func(c *Config) *int { return &c.Limits.Fixes }),
		one("limits.majors_block", kind.Whole(1, 1000), "major review findings that block", func(c *Config) *int { return &c.Limits.MajorsBlock }),
		one("limits.calls", kind.Whole(0, 1_000_000), "tool calls in a session; 0: no cap", func(c *Config) *int { return &c.Limits.Calls }),
		one("limits.tool_calls", kind.Whole(0, 1_000_000), "calls of one tool in a session; 0: no cap", func(c *Config) *int { return &c.Limits.ToolCalls }),
		one("limits.failed_calls", kind.Whole(0, 1_000_000), "tool calls in a session that failed; 0: no cap", func(c *Config) *int { return &c.Limits.FailedCalls }),
		one("limits.failed_in_row", kind.Whole(0, 1_000_000), "tool calls that failed one after the other; 0: no cap", func(c *Config) *int { return &c.Limits.FailedInRow }),
		one("limits.session_tokens", kind.Whole64(), "input and output tokens of a session; 0: no cap", func(c *Config) *int64 { return &c.Limits.SessionTokens }),
		one("limits.compact", kind.Whole(5, 95), "percent of what its model holds at which a conversation is compacted, while no answer has room any more at the latest", func(c *Config) *int { return &c.Limits.Compact }),
		one("limits.turn_time", kind.Span(), "silence of the model in a turn; only content breaks it, no ping and no empty piece; give more to models that think for long without showing it; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TurnTime }),
		one("limits.answer_time", kind.Span(), "one answer of a model, from the request to its end; what takes longer is broken off and asked for again; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.AnswerTime }),
		one("limits.gate_time", kind.Span(), "one gate; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.GateTime }),
		one("limits.session_time", kind.Span(), "one session; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.SessionTime }),
		one("limits.task_time", kind.Span(), "all attempts of a task together; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TaskTime }),
		one("limits.run_time", kind.Span(), "the run; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.RunTime }),
		one("alerts.denials", kind.Whole(0, 10_000), "refused tool calls within a minute; one more alerts people; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Denials }).trusted(told),
		one("alerts.failures", kind.Whole(0, 10_000), "failed model calls and attempts within a minute; one more alerts people; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Failures }).trusted(told),
		one("alerts.stuck", kind.Span(), "time in which an attempt says nothing, until people are alerted; 0s: never", func(c *Config) *time.Duration { return &c.Limits.Alerts.Stuck }).trusted(told),
		one("alerts.tokens", kind.Whole(0, 100), "percent of limits.session_tokens or budget.tokens at which people are alerted; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Tokens }).trusted(told),
		one("alerts.rounds", kind.Whole(0, 10_000), "rounds of a task, over all its attempts, at which people are told that it may need help; 0: never", func(c *Config) *int { return &c.Limits.Alerts.Rounds }).trusted(told),
		one("alerts.denied", kind.Words("tell", "pause", "stop"), "what an alert about refused calls does, beside telling: pause holds the run until nexus resume, where somebody is there who could, and else stops it; stop ends it with code 5",
			func(c *Config) *nexus.Reaction { return &c.Limits.Alerts.Denied }).trusted(told),
		one("budget.run", kind.Dollars(), "dollars that a run may spend; "+dear, func(c *Config) *nexus.Money { return &c.Limits.RunMoney }).lowered(),
		one("budget.task", kind.Dollars(), "dollars that one task may spend; 0: no cap; "+dear, func(c *Config) *nexus.Money { return &c.Limits.TaskMoney }).lowered(),
		one("budget.day", kind.Dollars(), "dollars that all runs of a day (UTC) may spend, in all repositories together; 0: no cap; "+dear, func(c *Config) *nexus.Money { return &c.Limits.DayMoney }).lowered(),
		many("budget.roles.*", kind.Dollars(), "dollars that all sessions of this role may spend in a run; 0: no cap", func(c *Config) *map[nexus.Role]nexus.Money { return &c.Limits.RoleMoney }),
		many("budget.providers.*", kind.Dollars(), "dollars that a run may spend at this provider; 0: no cap", func(c *Config) *map[string]nexus.Money { return &c.Limits.ProviderMoney }),
		one("budget.tokens", kind.Whole64(), "tokens that a run may use of models without a known price, which count no money; 0: none, such models are refused",
			func(c *Config) *int64 { return &c.Limits.RunTokens }).trusted("it lets models be used whose price nobody knows"),
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
		part("roles.*.tier", kind.Words("fast", "balanced", "strong"), "tier of this role; coder and tester have none, they work at their task's", roles, func(r *Role) *nexus.Tier { return &r.Tier }),
		part("roles.*.effort", kind.Words("none", "minimal", "low", "medium", "high", "xhigh", "max"), "how hard models think in this role; one that does not know the word takes the next lower one, and one that takes none is not told", roles, func(r *Role) *string { return &r.Effort }),
		part("providers.*.kind", kind.Words("anthropic", "openai", "responses", "gemini", "bridge"), "wire that the endpoint speaks: Messages, Chat Completions, Responses, generateContent; bridge: requests are files that a person or a program answers", providers, func(p *Provider) *string { return &p.Kind }).trusted(key),
		part("providers.*.base_url", kind.Address(), "address of the endpoint; without one, the provider's own", providers, func(p *Provider) *string { return &p.BaseURL }).trusted(key),
		part("providers.*.dir", kind.Text(), "directory of a bridge, where requests are written and answers awaited", providers, func(p *Provider) *string { return &p.Dir }).trusted("it decides where files are written"),
		part("providers.*.server", kind.Text(), "what serves it, where its address does not tell: openrouter, ollama, vllm, lmstudio, llamacpp or compatible", providers, func(p *Provider) *string { return &p.Server }).trusted(key),
		part("providers.*.key_env", kind.VarName(), "environment variable that holds the key", providers, func(p *Provider) *string { return &p.KeyEnv }).trusted(key),
		part("providers.*.percent", kind.Whole(0, 10_000), "what its calls cost in percent of the list prices: 110 where data stays in a region for a tenth more; 0 is 100", providers, func(p *Provider) *int { return &p.Percent }).trusted(price),
		part("pricing.*.input", kind.Dollars(), "dollars for a million input tokens of this provider/model", pricing, func(p *Price) *nexus.Money { return &p.Input }).trusted(price),
		part("pricing.*.output", kind.Dollars(), "dollars for a million output tokens", pricing, func(p *Price) *nexus.Money { return &p.Output }).trusted(price),
		part("pricing.*.cache_read", kind.Dollars(), "dollars for a million tokens read from the cache; 0: as much as input", pricing, func(p *Price) *nexus.Money { return &p.CacheRead }).trusted(price),
		part("pricing.*.cache_write", kind.Dollars(), "dollars for a million tokens written to the cache; 0: as much as input", pricing, func(p *Price) *nexus.Money { return &p.CacheWrite }).trusted(price),
	}
}

func routingKeys() []Key {
	tiers := kind.Words("fast", "balanced", "strong")
	complexity := func(c nexus.Complexity) Key {
		return entry("routing."+string(c), tiers, "tier where "+string(c)+" tasks begin", c, func(c *Config) *map[nexus.Complexity]nexus.Tier { return &c.Routing.Tiers })
	}
	sort := func(k nexus.TaskKind) Key {
		return entry("routing.kinds."+string(k), tiers, "tier where tasks of the kind "+string(k)+" begin, whatever their complexity", k,
			func(c *Config) *map[nexus.TaskKind]nexus.Tier { return &c.Routing.Kinds })
	}
	return []Key{
		one("routing.order", kind.List("manual", "adaptive", "model", "keyword"), "who says how hard a task is, the first that answers: the plan (manual), "+
			"earlier runs from ten tries on (adaptive), a model that is asked once for all tasks (model), its words (keyword)",
			func(c *Config) *[]string { return &c.Routing.Order }),
		complexity(nexus.Simple), complexity(nexus.Medium), complexity(nexus.Complex), complexity(nexus.Expert),
		sort(nexus.CodeTask), sort(nexus.TestTask), sort(nexus.DocsTask),
		one("routing.strategy", kind.Words("auto", string(nexus.TDDStrict), string(nexus.TDDLite), string(nexus.TDDSimple), string(nexus.TestAfter)),
			"in which order code and tests are written, where the plan does not say; auto: tests first, by another, for what is complex or touches security or a public API, none for what only renames, and code first for the rest",
			func(c *Config) *string { return &c.Routing.Strategy }),
	}
}

func gateKeys() []Key {
	const doc = "command of the gate, run in the sandbox; false switches it off; without one it is detected"
	return []Key{
		gate("gates.build", doc),
		gate("gates.lint", doc),
		gate("gates.test", doc),
		gate("gates.secrets", "false switches off the search for secrets in what a change adds; a command is run besides it"),
		one("review.personas", kind.List(Personas()...), "readers of a change, side by side, each for one kind of thing, and paid each; without any, one reads for everything",
			func(c *Config) *[]string { return &c.Personas }),
		one("gates.order", kind.List(), "gates that come first, in this order", func(c *Config) *[]string { return &c.Gates.Order }),
		one("gates.ui", kind.Texts(), "patterns of files of a user interface, whose change the gate e2e judges, and no other; one without a slash is of a name, ** stands for any directories, and * is any file; []: pages, styles, templates, components, their tests and libraries", func(c *Config) *[]string { return &c.Gates.UI }),
		one("regression.sample", kind.Whole(0, 100), "criteria of earlier runs that are tried again on the base before a run begins; 0: none", func(c *Config) *int { return &c.Regression.Sample }),
		one("regression.time", kind.Span(), "time for all of them; 0s: what the tests themselves take and the faults need, 30s to 20m", func(c *Config) *time.Duration { return &c.Regression.Time }),
		one("mutation.mode", kind.Words("off", "warn", "block"), "whether faults are put into new lines, to see if tests notice: warn names those that no test notices, block gives them back to be mended", func(c *Config) *string { return &c.Mutation.Mode }),
		one("mutation.sample", kind.Whole(1, 1000), "most faults that are tried on a tree", func(c *Config) *int { return &c.Mutation.Sample }),
		one("mutation.time", kind.Span(), "time for all of them; 0s: what the tests themselves take and the faults need, 30s to 20m", func(c *Config) *time.Duration { return &c.Mutation.Time }),
		one("gates.timeout", kind.Span(), "time for one gate; 0s: limits.gate_time", func(c *Config) *time.Duration { return &c.Gates.Timeout }),
		one("gates.linger", kind.Span(), "how long a test runner may be silent once it told how all its tests ended, before it counts as hanging and is ended; 0s: for ever",
			func(c *Config) *time.Duration { return &c.Gates.Linger }),
		one("gates.related", kind.Words("task", "deferred", "off"), "when the tests that a change concerns run alone: task, in front of all tests each time; "+
			"deferred, in their place until the work lands, when all tests run; off, never", func(c *Config) *string { return &c.Gates.Related }),
		one("gates.fix", kind.Words("changed", "off"), "changed: the project's formatters and linters put the files of a change right before they judge them", func(c *Config) *string { return &c.Gates.Fix }),
		many("gates.*", kind.Command(), "command of a gate of your own; it passes when it exits 0", func(c *Config) *map[string]string { return &c.Gates.Commands }),
	}
}

// Personas returns the names of those who may read a change.
func Personas() []string { return []string{"correctness", "security", "tests", "maintainability"} }

func planKeys() []Key {
	return []Key{
		one("plan.minutes", kind.Whole(1, 100_000), "longest estimate of a task", func(c *Config) *int { return &c.Limits.Size.Minutes }),
		one("plan.files", kind.Whole(1, 100_000), "most files that a task may name", func(c *Config) *int { return &c.Limits.Size.Files }),
		one("plan.criteria", kind.Whole(1, 100_000), "most acceptance criteria of a task", func(c *Config) *int { return &c.Limits.Size.Criteria }),
		one("plan.characters", kind.Whole(1, 1_000_000), "longest text of a task", func(c *Config) *int { return &c.Limits.Size.Characters }),
		one("plan.parts", kind.Whole(1, 100), "most parts that a task is split into when it is stuck", func(c *Config) *int { return &c.Limits.Parts }),
		one("plan.depth", kind.Whole(0, 100), "times that a part may come of a split; 0 splits nothing", func(c *Config) *int { return &c.Limits.Depth }),
	}
}

func policyKeys() []Key {
	const open = "it lets agents run what the built-in rules do not know"
	const of = ", as the words that it begins with"
	return []Key{
		one("policy.allow", kind.Beginnings(), "commands of programs that are unknown to the built-in rules and may run"+of+"; what those deny stays denied",
			func(c *Config) *[]string { return &c.Policy.Allow }).trusted(open).added(),
		one("policy.ask", kind.Beginnings(), "commands that wait for a person"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Ask }).added(),
		one("policy.deny", kind.Beginnings(), "commands that are refused"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Deny }).added(),
		one("policy.show", paths(), "files and directories of the tree, as patterns, that agents see though they are named as those with secrets are, or hold some; keys in them stay masked",
			func(c *Config) *[]string { return &c.Policy.Show }).trusted("it decides which of your secrets agents can read").added(),
		one("goals.deny", kind.Phrases(), "phrases that no goal, and no task of a plan file, may hold, as words one after the other; * stands for up to twelve others; each file may add", func(c *Config) *[]string { return &c.Forbidden }).added(),
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
		one("preset", kind.Words(Presets()...).Also(improve), "values for what nobody set: "+strings.Join(sets, "; "), func(c *Config) *string { return &c.Preset }).
			trusted("it decides what is spent, and done without you"),
		one("approval", kind.Words(levels...), "what waits for a person: nothing; commands that policy asks about; and publishing; and the plan and every command. "+
			"The project's file may let more wait, not less", func(c *Config) *nexus.Approval { return &c.Limits.Approval }),
		one("questions.timeout", kind.Span(), "how long a question waits for somebody's answer before its fallback holds, which is never a yes to a command or to publishing; 0s: for ever", func(c *Config) *time.Duration { return &c.Patience }).trusted("it decides how long you are waited for"),
		one("precheck.strict", kind.Boolean(), "what nexus doctor would only notice keeps a run from starting, too", func(c *Config) *bool { return &c.Precheck.Strict }).trusted(guards),
		one("precheck.skip", kind.List(Checks()...), "checks that are not made before a run", func(c *Config) *[]string { return &c.Precheck.Skip }).trusted(guards),
		one("precheck.dirty", kind.Words("allow", "notice", "refuse"), "what changes in the checkout that are not committed mean, which no run sees: it starts from the commit", func(c *Config) *string { return &c.Precheck.Dirty }).trusted(guards),
		one("sandbox", kind.Words("auto", "native", "bwrap", "landlock", "off"), "what confines agents and gates; the project's file may not switch it off", func(c *Config) *string { return &c.Sandbox }),
		one("context.map", kind.Whole(0, 100_000), "tokens of the map that the planner, coders, testers and scouts are shown, a 16th of what the model holds at most; 0: none", func(c *Config) *int { return &c.MapTokens }),
		one("land", kind.Boolean(), "move the target branch to what landed at the end of a run, merged and judged again if the branch moved meanwhile", func(c *Config) *bool { return &c.Land }).
			trusted("moving your branch is your decision"),
		one("git.notes", kind.Boolean(), "what the gates and the reviewer said of each commit that a run publishes goes into the git notes refs/notes/nexus, which nothing pushes by itself", func(c *Config) *bool { return &c.Notes }),
		one("git.protected", kind.Texts(), "patterns of branches that no run moves, such as `release/*`", func(c *Config) *[]string { return &c.Protected }).
			trusted("moving your branch is your decision"),
		one("target", kind.Text(), "branch that runs are meant for; without one, the branch that is checked out", func(c *Config) *string { return &c.Target }),
		one("status_file", kind.Text(), "file that says how the run stands, kept up to date", func(c *Config) *string { return &c.StatusFile }).
			trusted("it decides which file is overwritten"),
	}
}

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
		set: func(c *Config, of string, v any) {
			x := (*at(c))[K(of)]
			kind.Put(field(&x), v)
			store(at(c), K(of), x)
		},
		get: func(c Config) []setting {
			m := *at(&c)
			var all []setting
			for _, of := range slices.Sorted(maps.Keys(m)) {
				x := m[of]
				all = append(all, setting{fill(name, string(of)), *field(&x)})
			}
			return all
		},
	}
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
	return entry(name, kind.Models(), "model of this tier, as provider/model, or a list of up to three: the next is asked while one before it has no quota or does not answer; without one it is that of the nearest weaker tier that has one, or chosen from the providers that have a key", t,
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
