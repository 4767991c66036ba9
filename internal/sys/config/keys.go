package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// SettingKey describes one setting.
type SettingKey struct {
	Name    string   // dotted; a segment "*" matches any name, or those of Members
	Type    string   // form of a value, for people
	Group   string   // heading of its group in the documentation
	Doc     string   // its meaning
	Default string   // in the syntax of the file; empty: unset
	Values  []string // the allowed values, if they are few
	Env     string   // environment variable; empty: none
	Trusted string   // why the project's file must not set it; empty: it may

	// Members are the keys of a family: one setting that has a value for each of some known names, such
	// as models.fast and models.strong of models.*. Sources set the members.
	Members []SettingKey

	kind  valuekind.Kind
	least bool                                // the project's file may only lower it
	adds  bool                                // the values of all layers are combined
	set   func(c *Config, name string, v any) // v was read by kind; name replaces the "*"
	get   func(c Config) []settingKeyValue
}

// valueSchema returns the JSON Schema of the key's values.
func (k SettingKey) valueSchema() map[string]any { return k.kind.Schema }

// settingKeyValue is one value of a key. A key with "*" has several.
type settingKeyValue struct {
	name  string
	value any
}

var collectedKeys = sync.OnceValue(collectKeys)

// AllSettingKeys returns every setting in the order of the documentation. All callers share the slice, and must
// not change it: a command reads its settings several times.
func AllSettingKeys() []SettingKey { return collectedKeys() }

// MemberKeys returns the keys that sources can set: those of [AllSettingKeys], with the members of each family in
// place of the family.
func MemberKeys() []SettingKey { return collectedMembers() }

var collectedMembers = sync.OnceValue(func() []SettingKey {
	var all []SettingKey
	for _, k := range AllSettingKeys() {
		if len(k.Members) == 0 {
			all = append(all, k)
		}
		for _, m := range k.Members {
			m.Doc = strings.TrimSuffix(k.Doc+": "+m.Doc, ": ")
			all = append(all, m)
		}
	}
	return all
})

func collectKeys() []SettingKey {
	var keys []SettingKey
	for _, g := range []struct {
		name string
		keys []SettingKey
	}{
		{"Runs", runKeys()},
		{"Money and limits", slices.Concat(limitKeys(), resourceBoundKeys())},
		{"Models and tiers", slices.Concat(modelKeys(), startTierKeys())},
		{"Agent programs", agentKeys()},
		{"Gates and the definition of done", slices.Concat(gateKeys(), packageKeys(), definitionOfDoneKeys())},
		{"Plans and backlog", planKeys()},
		{"What agents may do", slices.Concat(policyKeys(), networkKeys(), environmentKeys())},
		{"Programs of yours", slices.Concat(mcpServerKeys(), hookKeys(), pluginKeys(), pipelineKeys(), languageServerKeys())},
		{"Questions, notifications and telemetry", slices.Concat(channelKeys(), notifyKeys(), telemetryKeys())},
		{"Memory, lessons and improvement", slices.Concat(memoryKeys(), lessonKeys(), improveKeys())},
	} {
		for _, k := range g.keys {
			k.Group = g.name
			keys = append(keys, k)
		}
	}
	d := DefaultConfig()
	for i := range keys {
		keys[i].derive(d)
		for j := range keys[i].Members {
			keys[i].Members[j].Group = keys[i].Group
			keys[i].Members[j].derive(d)
		}
	}
	return keys
}

// derive fills in the fields that follow from others and from the defaults.
func (k *SettingKey) derive(d Config) {
	k.Type = k.kind.Description
	if !strings.Contains(k.Name, "*") {
		for _, s := range k.get(d) {
			k.Default = valuekind.FormatValue(s.value)
		}
	}
	section, _, _ := strings.Cut(k.Name, ".")
	if !slices.Contains([]string{"pricing", "mcp", "hooks", "plugins", "pipeline", "lsp", "packages"}, section) {
		k.Env = keyVariable(k.Name)
	}
}

// keyVariable returns the environment variable of a key: NEXUS_ and its name in upper case, with
// underscores for all other characters.
func keyVariable(name string) string {
	return envPrefix + strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return r
	}, name))
}

const envPrefix = "NEXUS_"

func limitKeys() []SettingKey {
	const told = "it decides when you are alerted"
	const lower = "the project's file may lower it, not raise it"
	return []SettingKey{
		newSingleKey("limits.parallel", valuekind.WholeNumberKind(1, 256), "maximum number of attempts at once", func(c *Config) *int { return &c.Limits.Parallel }),
		newSingleKey("limits.turns", valuekind.WholeNumberKind(1, 10_000), "model calls in a session", func(c *Config) *int { return &c.Limits.Turns }),
		newSingleKey("limits.rounds", valuekind.WholeNumberKind(1, 10_000), "times an agent may write, over all attempts of a task", func(c *Config) *int { return &c.Limits.Rounds }),
		familyKey("limits.per_tier.*", "attempts of a task at a tier; 0: none",
			tierAttemptsKey("limits.per_tier.fast", nexus.Fast),
			tierAttemptsKey("limits.per_tier.balanced", nexus.Balanced),
			tierAttemptsKey("limits.per_tier.strong", nexus.Strong)),
		newSingleKey("run.batch", valuekind.WholeNumberKind(1, 4), "maximum number of small tasks of one kind that one coder's session does one after the other, each with its own worktree, gates, review and commit (docs/plan.md); 1: each task has its own session", func(c *Config) *int { return &c.Limits.Batch }),
		newSingleKey("acceptance.checks", valuekind.OneOfKind("auto", "always", "off"), "whether a tester names a test for each criterion without a check; it must fail without the work and pass with it. auto: a tester that works on the task anyway names it, or one extra session if no command of the task's own shows it; always: one session for every task with such a criterion", func(c *Config) *string { return &c.Checks }),
		newSingleKey("acceptance.independent", valuekind.OneOfKind("auto", "always", "off"), "whether a criterion that only tests of the change itself show gets a check by a session that sees the goal and the code before the change, and nothing of the change; it must fail without the change and pass with it. auto: where the change edits code that exists; always: for every such criterion", func(c *Config) *string { return &c.Independent }),
		newSingleKey("acceptance.fixes", valuekind.WholeNumberKind(0, 20), "rounds of extra tasks that fix criteria whose check fails on the combined result of all tasks; 0: none", func(c *Config) *int { return &c.Limits.Fixes }),
		newSingleKey("limits.turn_time", valuekind.DurationKind(), "longest silence of the model in a turn; only content counts, not a ping or an empty chunk; raise it for models that think long without output; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TurnTime }),
		newSingleKey("limits.gate_time", valuekind.DurationKind(), "one gate; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.GateTime }),
		newSingleKey("limits.task_time", valuekind.DurationKind(), "all attempts of a task together, and one session of any role; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.TaskTime }),
		newSingleKey("limits.run_time", valuekind.DurationKind(), "the run; 0s: no cap", func(c *Config) *time.Duration { return &c.Limits.RunTime }),
		newSingleKey("alerts.denied", valuekind.OneOfKind("tell", "pause", "stop"), "action of an alert about refused calls besides notifying: pause pauses the run until nexus resume if somebody is there, and otherwise stops it; stop ends it with code 5",
			func(c *Config) *nexus.AlertReaction { return &c.Limits.Alerts.Denied }).withProjectDenied(told),
		newSingleKey("budget.run", valuekind.DollarAmountKind(), "dollars that a run may spend; "+lower, func(c *Config) *nexus.Money { return &c.Limits.RunMoney }).withLowerOnly(),
		newSingleKey("budget.task", valuekind.DollarAmountKind(), "dollars that one task may spend; 0: no cap; "+lower, func(c *Config) *nexus.Money { return &c.Limits.TaskMoney }).withLowerOnly(),
		newSingleKey("budget.day", valuekind.DollarAmountKind(), "dollars that all runs of a day (UTC) may spend, in all repositories together; 0: no cap; "+lower, func(c *Config) *nexus.Money { return &c.Limits.DayMoney }).withLowerOnly(),
		newMapKey("budget.roles.*", valuekind.DollarAmountKind(), "dollars that all sessions of this role may spend in a run; 0: no cap", func(c *Config) *map[nexus.Role]nexus.Money { return &c.Limits.RoleMoney }),
		newMapKey("budget.providers.*", valuekind.DollarAmountKind(), "dollars that a run may spend at this provider; 0: no cap", func(c *Config) *map[string]nexus.Money { return &c.Limits.ProviderMoney }),
		newSingleKey("budget.tokens", valuekind.WholeNumber64Kind(), "tokens that a run may use of models without a known price, which are not counted in dollars; 0: such models are refused",
			func(c *Config) *int64 { return &c.Limits.RunTokens }).withProjectDenied("it allows models without a known price"),
	}
}

// ChatServers returns the names of server software that speaks Chat Completions, each in its own way.
func ChatServers() []string {
	return []string{"openrouter", "ollama", "vllm", "lmstudio", "llamacpp", "compatible"}
}

func modelKeys() []SettingKey {
	const key = "it decides where keys and code are sent"
	const price = "it decides what counts against the budget"
	return []SettingKey{
		familyKey("models.*", "model of a tier, as provider/model, or a list of up to three: the next is used while the ones before it have no quota or do not answer; the default is the model of the nearest weaker tier that has one, or one of a provider that has a key. An agent program is named as a provider is: codex/gpt-5.5; in a list, agent programs come first",
			tierModelKey("models.fast", nexus.Fast),
			tierModelKey("models.balanced", nexus.Balanced),
			tierModelKey("models.strong", nexus.Strong)),
		newSingleKey("models.list", valuekind.WebAddressKind(), "where nexus models refresh fetches the public list of models from", func(c *Config) *string { return &c.ModelList }).withProjectDenied(price),
		roleModelKey(),
		newMapFieldKey("roles.*.effort", valuekind.OneOfKind("none", "minimal", "low", "medium", "high", "xhigh", "max"), "reasoning effort of models in this role; a model without this level gets the next lower one, and a model without the setting ignores it", roleMap, func(r *RoleSettings) *string { return &r.Effort }),
		newMapFieldKey("providers.*.kind", valuekind.OneOfKind(append([]string{"anthropic", "openai", "responses", "gemini", "bridge"}, ChatServers()...)...), "API that the endpoint speaks: Messages, Chat Completions, Responses, generateContent; or the server software that speaks Chat Completions, if neither the address nor the name shows it: openrouter, ollama, vllm, lmstudio, llamacpp, or compatible for any other; bridge: requests are files that a person or a program answers", providerMap, func(p *ProviderSettings) *string { return &p.Kind }).withProjectDenied(key),
		newMapFieldKey("providers.*.base_url", valuekind.WebAddressKind(), "address of the endpoint; without one, the provider's own", providerMap, func(p *ProviderSettings) *string { return &p.BaseURL }).withProjectDenied(key),
		newMapFieldKey("providers.*.dir", valuekind.TextLineKind(), "directory of a bridge, where requests are written and answers awaited", providerMap, func(p *ProviderSettings) *string { return &p.Dir }).withProjectDenied("it decides where files are written"),
		newMapFieldKey("providers.*.key_env", valuekind.VariableNameKind(), "environment variable that holds the key", providerMap, func(p *ProviderSettings) *string { return &p.KeyEnv }).withProjectDenied(key),
		newMapFieldKey("providers.*.percent", valuekind.WholeNumberKind(0, 10_000), "price in percent of the list price, such as 110 if regional data storage costs 10 % more; 0 means 100", providerMap, func(p *ProviderSettings) *int { return &p.Percent }).withProjectDenied(price),
		familyKey("pricing.*.*", "dollars for a million tokens of this provider/model",
			newMapFieldKey("pricing.*.input", valuekind.DollarAmountKind(), "input", pricingMap, func(p *TokenPrice) *nexus.Money { return &p.Input }).withProjectDenied(price),
			newMapFieldKey("pricing.*.output", valuekind.DollarAmountKind(), "output", pricingMap, func(p *TokenPrice) *nexus.Money { return &p.Output }).withProjectDenied(price),
			newMapFieldKey("pricing.*.cache_read", valuekind.DollarAmountKind(), "read from the cache; 0: as much as input", pricingMap, func(p *TokenPrice) *nexus.Money { return &p.CacheRead }).withProjectDenied(price),
			newMapFieldKey("pricing.*.cache_write", valuekind.DollarAmountKind(), "written to the cache; 0: as much as input", pricingMap, func(p *TokenPrice) *nexus.Money { return &p.CacheWrite }).withProjectDenied(price)),
	}
}

// roleModelKey makes the key of a role's model, which a tier also names.
func roleModelKey() SettingKey {
	key := newMapFieldKey("roles.*.model", valuekind.ModelOrTierKind(string(nexus.Fast), string(nexus.Balanced), string(nexus.Strong)),
		"model of this role, as provider/model, or the tier whose model it uses; coder and tester work at the tier of their task, so no tier can be set for them",
		roleMap, func(r *RoleSettings) *string { return &r.Model })
	key.set = func(c *Config, of string, v any) {
		changeMapEntry(roleMap(c), nexus.Role(of), func(r *RoleSettings) {
			r.Model, r.Tier = "", ""
			if name := fmt.Sprint(v); strings.Contains(name, "/") {
				r.Model = name
			} else {
				r.Tier = nexus.Tier(name)
			}
		})
	}
	key.get = func(c Config) []settingKeyValue {
		return mapFieldValues(*roleMap(&c), key.Name, func(r *RoleSettings) any { return cmp.Or(r.Model, string(r.Tier)) })
	}
	return key
}

func startTierKeys() []SettingKey {
	tiers := valuekind.OneOfKind("fast", "balanced", "strong")
	complexity := func(c nexus.Complexity) SettingKey {
		return newMapEntryKey("routing."+string(c), tiers, "", c, func(c *Config) *map[nexus.Complexity]nexus.Tier { return &c.Routing.Tiers })
	}
	sort := func(k nexus.TaskKind) SettingKey {
		return newMapEntryKey("routing."+string(k), tiers, "all tasks of this kind, whatever their complexity", k,
			func(c *Config) *map[nexus.TaskKind]nexus.Tier { return &c.Routing.Kinds })
	}
	return []SettingKey{
		newSingleKey("routing.order", valuekind.NameListKind("manual", "adaptive", "model", "keyword"), "sources of a task's complexity; the first that answers wins: the plan (manual), "+
			"earlier runs, from ten attempts on (adaptive), a model asked once for all tasks (model), keywords in its text (keyword)",
			func(c *Config) *[]string { return &c.Routing.Order }),
		familyKey("routing.*", "tier where tasks of a complexity or a kind start", complexity(nexus.Simple), complexity(nexus.Medium), complexity(nexus.Complex), complexity(nexus.Expert), sort(nexus.CodeTask), sort(nexus.TestTask), sort(nexus.DocsTask)),
		newSingleKey("routing.strategy", valuekind.OneOfKind("auto", string(nexus.TDDStrict), string(nexus.TDDLite), string(nexus.TDDSimple), string(nexus.TestAfter)),
			"order in which code and tests are written, if the plan does not say; auto: tests first, by another agent, for complex tasks and those that touch security or a public API; no tests for pure renames; code first for the rest",
			func(c *Config) *string { return &c.Routing.Strategy }),
	}
}

func gateKeys() []SettingKey {
	return []SettingKey{
		newSingleKey("review.personas", valuekind.NameListKind(ReviewPersonas()...), "reviewers of a change, in parallel, each for one kind of problem and with its own cost; if empty, one reviewer looks for everything",
			func(c *Config) *[]string { return &c.Personas }),
		newSingleKey("gates.order", valuekind.NameListKind(), "gates that come first, in this order", func(c *Config) *[]string { return &c.Gates.Order }),
		newSingleKey("gates.ui", valuekind.TextListKind(), "patterns of user interface files; the gate e2e judges only changes to these. A pattern without a slash matches file names, ** stands for any directories, * alone for any file; []: pages, styles, templates, components, their tests and libraries", func(c *Config) *[]string { return &c.Gates.UI }),
		newSingleKey("mutation.sample", valuekind.WholeNumberKind(1, 1000), "maximum number of faults tried per tree", func(c *Config) *int { return &c.Mutation.Sample }),
		newSingleKey("gates.related", valuekind.OneOfKind("task", "deferred", "off"), "when to run only the tests that a change affects: task, before all tests each time; "+
			"deferred, instead of all tests until the work lands; off, never: then also the gates of all packages judge each change, not only those of the packages that it touches and of all that need them", func(c *Config) *string { return &c.Gates.Related }),
		newSingleKey("gates.fix", valuekind.OneOfKind("changed", "off"), "changed: the project's formatters and linters fix the files of a change before they check them", func(c *Config) *string { return &c.Gates.Fix }),
		newMapKey("gates.*", valuekind.CommandLineKind(), "command of a gate, such as build, lint or test, or of one of your own; it runs in the sandbox and passes when it exits 0; false turns the gate off; if not set, it is detected. "+
			"secrets: a command runs in addition to the search for secrets in added lines; false turns both off", func(c *Config) *map[string]string { return &c.Gates.Commands }),
	}
}

// ReviewPersonas returns the names of the possible reviewers of a change.
func ReviewPersonas() []string {
	return []string{"correctness", "security", "tests", "maintainability"}
}

func planKeys() []SettingKey {
	return []SettingKey{
		newSingleKey("backlog.active", valuekind.WholeNumberKind(1, 100), "backlog items in progress at once", func(c *Config) *int { return &c.Limits.Items }),
		newSingleKey("discover.strategies", valuekind.TextListKind(), "strategies of nexus discover, such as todo, or -todo to leave one out; []: all but issues and ideas",
			func(c *Config) *[]string { return &c.Discover.Strategies }),
		newSingleKey("discover.tasks", valuekind.TextLineKind(), "folder of tasks, below the root of the repository: pending, completed and logs are in it",
			func(c *Config) *string { return &c.Discover.Tasks }),
		newSingleKey("interview.when", valuekind.OneOfKind("vague", "never", "always"), "when nexus run and nexus plan first ask the person at the terminal about a goal. vague: if its text leaves open what to build. If nobody is there, the planner states its assumptions", func(c *Config) *string { return &c.Interview }),
		newSingleKey("plan.oversize", valuekind.OneOfKind("ask", "split", "refuse"), "what to do with tasks of a plan file that are too large. ask: ask a person, refuse the plan if nobody is there; split: split them by files, layers or time, without a model; refuse: refuse the plan", func(c *Config) *string { return &c.Oversize }),
		newSingleKey("plan.second_look", valuekind.OneOfKind(string(nexus.LookAuto), string(nexus.LookNever), string(nexus.LookAlways)),
			"whether a second model checks that a plan covers its goal. auto: if the goal says more than one thing; what is missing goes back to the planner once and is then reported",
			func(c *Config) *nexus.CoverageCheckMode { return &c.Limits.SecondLook }),
	}
}

func policyKeys() []SettingKey {
	const open = "it lets agents run commands that a built-in rule asks about"
	const of = ", given by their first words"
	return []SettingKey{
		newSingleKey("policy.allow", valuekind.CommandPrefixesKind(), "commands that run although a built-in rule asks about them"+of+"; what the built-in rules deny stays denied",
			func(c *Config) *[]string { return &c.Policy.Allow }).withProjectDenied(open).withMergedLayers(),
		newSingleKey("policy.ask", valuekind.CommandPrefixesKind(), "commands that wait for a person"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Ask }).withMergedLayers(),
		newSingleKey("policy.deny", valuekind.CommandPrefixesKind(), "commands that are refused"+of+"; each file may add", func(c *Config) *[]string { return &c.Policy.Deny }).withMergedLayers(),
		newSingleKey("policy.show", pathPatternsKind(), "files and directories, as patterns, that agents may see although their names suggest secrets or they contain some; keys in them stay masked",
			func(c *Config) *[]string { return &c.Policy.Show }).withProjectDenied("it decides which of your secrets agents can read").withMergedLayers(),
		newSingleKey("goals.deny", valuekind.PhraseListKind(), "phrases that no goal and no text of a plan file may contain, as consecutive words; * stands for up to twelve words; each file may add", func(c *Config) *[]string { return &c.Forbidden }).withMergedLayers(),
		newMapFieldKey("roles.*.allow", valuekind.CommandPrefixesKind(), "policy.allow for this role", roleMap, func(r *RoleSettings) *[]string { return &r.Policy.Allow }).withProjectDenied(open).withMergedLayers(),
		newMapFieldKey("roles.*.ask", valuekind.CommandPrefixesKind(), "policy.ask for this role", roleMap, func(r *RoleSettings) *[]string { return &r.Policy.Ask }).withMergedLayers(),
		newMapFieldKey("roles.*.deny", valuekind.CommandPrefixesKind(), "policy.deny for this role", roleMap, func(r *RoleSettings) *[]string { return &r.Policy.Deny }).withMergedLayers(),
	}
}

func runKeys() []SettingKey {
	const guards = "it guards your own checkout and machine"
	var levels, sets []string
	for _, a := range nexus.ApprovalModes() {
		levels = append(levels, string(a))
	}
	for _, p := range PresetNames() {
		sets = append(sets, describePreset(p))
	}
	return []SettingKey{
		newSingleKey("ui.watch", valuekind.OneOfKind(WatchAuto, WatchAlways, WatchNever), "whether nexus run and nexus resume show the run on the whole screen: auto, when its first tasks start, on a terminal of at least 60 columns and 15 lines; always, from the start, with the run in the background, as --watch does; never, as lines",
			func(c *Config) *string { return &c.Watch }).withProjectDenied("it decides what your terminal shows"),
		newMapKey("keys.*", valuekind.TextLineKind(), "key for an action of the terminal interface, such as approve, skip or palette (docs/run-and-watch.md lists them); none: no key",
			func(c *Config) *map[string]string { return &c.Keys }).withProjectDenied("it decides what your keys do"),
		newSingleKey("preset", valuekind.OneOfKind(PresetNames()...), "defaults for settings that you did not set: "+strings.Join(sets, "; "), func(c *Config) *string { return &c.Preset }).
			withProjectDenied("it decides what is spent and what happens without you"),
		newSingleKey("approval", valuekind.OneOfKind(levels...), "actions that wait for a person: none; commands that policy asks about; and publishing; and the plan and every command. "+
			"The project's file may let more wait, not less", func(c *Config) *nexus.ApprovalMode { return &c.Limits.Approval }),
		newSingleKey("review.people", valuekind.OneOfKind(reviewPeopleWords()...), "changes that need a person's review before they land: none; those with a risky file; all. The project's file may require more, not less",
			func(c *Config) *nexus.PersonReviewRequirement { return &c.Limits.Review.People }),
		newSingleKey("review.resolve_fixed", valuekind.BooleanKind(), "resolve a person's comment of the kind must once a fix that changed its lines is accepted by gates and reviewers; otherwise a person resolves it", func(c *Config) *bool { return &c.Limits.Review.Fixed }).
			withProjectDenied("it decides what lands without you"),
		newSingleKey("questions.timeout", valuekind.DurationKind(), "how long a question waits for an answer before its fallback applies, which is never a yes to a command or to publishing; 0s: forever", func(c *Config) *time.Duration { return &c.Patience }).withProjectDenied("it decides how long a run waits for you"),
		newSingleKey("questions.auto", valuekind.DurationKind(), "how long people have to answer a question about something ambiguous before a model of tier fast may: it must be 70 % sure, and each answer costs at most one cent, all of a run together 20; it never allows a command and never publishes; 0s: only people answer",
			func(c *Config) *time.Duration { return &c.AutoAnswer }).withProjectDenied("it decides who answers for you"),
		newSingleKey("step", valuekind.BooleanKind(), "work on one task at a time, and ask a person before each starts", func(c *Config) *bool { return &c.Limits.Step }),
		newSingleKey("precheck.strict", valuekind.BooleanKind(), "treat notices of nexus doctor as blockers", func(c *Config) *bool { return &c.Precheck.Strict }).withProjectDenied(guards),
		newSingleKey("precheck.skip", valuekind.NameListKind(precheckNames()...), "checks to skip before a run", func(c *Config) *[]string { return &c.Precheck.Skip }).withProjectDenied(guards),
		newSingleKey("sandbox", valuekind.OneOfKind("auto", "native", "bwrap", "landlock", "off"), "sandbox for agents and gates; the project's file may not turn it off", func(c *Config) *string { return &c.Sandbox }),
		familyKey("context.*", "maximum size in tokens of a part of the prompts; 0: none",
			newSingleKey("context.map", valuekind.WholeNumberKind(0, 100_000), "map of the code for planner, coders, testers and subagents, at most a 16th of the model's context", func(c *Config) *int { return &c.MapTokens }),
			newSingleKey("context.docs", valuekind.WholeNumberKind(0, 100_000), "sections from .nexus/docs that planner, coders and testers get at the start of a session", func(c *Config) *int { return &c.Docs }),
			newSingleKey("context.memory", valuekind.WholeNumberKind(0, 100_000), "the repository's memory for planner, coders and testers; 0: also nothing is proposed for it", func(c *Config) *int { return &c.Memory.Tokens })),
		newSingleKey("land", valuekind.BooleanKind(), "move the target branch to the result at the end of a run; if the branch moved meanwhile, merge and check again", func(c *Config) *bool { return &c.Land }).
			withProjectDenied("you decide when your branch moves"),
		newSingleKey("git.prefix", valuekind.TextLineKind(), "prefix of the branches with the results of runs: PREFIX/RUN. No branch may be called PREFIX itself", func(c *Config) *string { return &c.Prefix }),
		newSingleKey("git.protected", valuekind.TextListKind(), "patterns of branches that no run moves, such as `release/*`", func(c *Config) *[]string { return &c.Protected }).
			withProjectDenied("you decide when your branch moves"),
		newSingleKey("target", valuekind.TextLineKind(), "target branch of runs; the default is the branch that is checked out", func(c *Config) *string { return &c.Target }),
		newSingleKey("status_file", valuekind.TextLineKind(), "file with the current status of the run", func(c *Config) *string { return &c.StatusFile }).
			withProjectDenied("it decides which file is overwritten"),
	}
}

// These functions make the keys of the table. None is inlined: every line of the table would have
// its own copies of a key's functions, which were 0.3 MB of the program.

// newSingleKey makes the key of a single value; at returns its address.
func newSingleKey[T any](name string, k valuekind.Kind, doc string, at func(*Config) *T) SettingKey {
	return SettingKey{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, _ string, v any) { valuekind.StoreValue(at(c), v) },
		get: func(c Config) []settingKeyValue { return []settingKeyValue{{name, *at(&c)}} },
	}
}

// newMapKey makes the key of the values of a map.
func newMapKey[K ~string, V any](name string, k valuekind.Kind, doc string, at func(*Config) *map[K]V) SettingKey {
	return SettingKey{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, of string, v any) {
			var x V
			valuekind.StoreValue(&x, v)
			storeMapEntry(at(c), K(of), x)
		},
		get: func(c Config) []settingKeyValue {
			m := *at(&c)
			var all []settingKeyValue
			for _, of := range slices.Sorted(maps.Keys(m)) {
				all = append(all, settingKeyValue{fillWildcard(name, string(of)), m[of]})
			}
			return all
		},
	}
}

// newMapFieldKey makes the key of one field in the values of a map.
func newMapFieldKey[K ~string, S, T any](name string, k valuekind.Kind, doc string, at func(*Config) *map[K]S, field func(*S) *T) SettingKey {
	return SettingKey{
		Name: name, Doc: doc, kind: k, Values: k.Values,
		set: func(c *Config, of string, v any) {
			changeMapEntry(at(c), K(of), func(x *S) { valuekind.StoreValue(field(x), v) })
		},
		get: func(c Config) []settingKeyValue {
			return mapFieldValues(*at(&c), name, func(x *S) any { return *field(x) })
		},
	}
}

// commandKey makes the key of a program and its arguments, which are one list.
func commandKey[S any](name, doc string, at func(*Config) *map[string]S, field func(*S) (program *string, args *[]string)) SettingKey {
	return SettingKey{
		Name: name, Doc: doc, kind: valuekind.TextListKind(),
		set: func(c *Config, of string, v any) {
			var line []string
			valuekind.StoreValue(&line, v)
			changeMapEntry(at(c), of, func(x *S) {
				program, args := field(x)
				*program, *args = "", nil
				if len(line) > 0 {
					*program, *args = line[0], line[1:]
				}
			})
		},
		get: func(c Config) []settingKeyValue {
			return mapFieldValues(*at(&c), name, func(x *S) any {
				program, args := field(x)
				if *program == "" {
					return []string(nil)
				}
				return append([]string{*program}, *args...)
			})
		},
	}
}

// changeMapEntry changes one value of a map.
func changeMapEntry[K ~string, S any](m *map[K]S, of K, how func(*S)) {
	x := (*m)[of]
	how(&x)
	storeMapEntry(m, of, x)
}

// mapFieldValues returns one field of all values of a map.
func mapFieldValues[K ~string, S any](m map[K]S, name string, field func(*S) any) []settingKeyValue {
	var all []settingKeyValue
	for _, of := range slices.Sorted(maps.Keys(m)) {
		x := m[of]
		all = append(all, settingKeyValue{fillWildcard(name, string(of)), field(&x)})
	}
	return all
}

// familyKey makes the key of one setting with a value for each of its members' names.
func familyKey(name, doc string, members ...SettingKey) SettingKey {
	return SettingKey{Name: name, Doc: doc, Values: members[0].Values, Trusted: members[0].Trusted, Members: members, kind: members[0].kind}
}

// newMapEntryKey makes the key of one known entry of a map.
func newMapEntryKey[K ~string, V any](name string, k valuekind.Kind, doc string, of K, at func(*Config) *map[K]V) SettingKey {
	key := newMapKey(name, k, doc, at)
	set := key.set
	key.set = func(c *Config, _ string, v any) { set(c, string(of), v) }
	key.get = func(c Config) []settingKeyValue {
		if v, ok := (*at(&c))[of]; ok {
			return []settingKeyValue{{name, v}}
		}
		return nil
	}
	return key
}

func tierAttemptsKey(name string, t nexus.Tier) SettingKey {
	return newMapEntryKey(name, valuekind.WholeNumberKind(0, 1000), "", t, func(c *Config) *map[nexus.Tier]int { return &c.Limits.PerTier })
}

func tierModelKey(name string, t nexus.Tier) SettingKey {
	return newMapEntryKey(name, valuekind.ModelChainKind(), "", t,
		func(c *Config) *map[nexus.Tier]string { return &c.Models })
}

func roleMap(c *Config) *map[nexus.Role]RoleSettings     { return &c.Roles }
func providerMap(c *Config) *map[string]ProviderSettings { return &c.Providers }
func pricingMap(c *Config) *map[string]TokenPrice        { return &c.Pricing }

func (k SettingKey) withProjectDenied(why string) SettingKey { k.Trusted = why; return k }
func (k SettingKey) withLowerOnly() SettingKey               { k.least = true; return k }
func (k SettingKey) withMergedLayers() SettingKey            { k.adds = true; return k }

// storeMapEntry writes to a copy of the map, so that no two Configs share one.
func storeMapEntry[K comparable, V any](m *map[K]V, k K, v V) {
	c := maps.Clone(*m)
	if c == nil {
		c = map[K]V{}
	}
	c[k] = v
	*m = c
}

// reviewPeopleWords returns the values with which some changes wait for a person.
func reviewPeopleWords() []string {
	var words []string
	for _, l := range nexus.PersonReviewRequirements() {
		words = append(words, string(l))
	}
	return words
}
