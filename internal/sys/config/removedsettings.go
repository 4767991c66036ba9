package config

import (
	"fmt"
	"slices"
	"strings"
)

// RemovedSetting is a setting of an earlier version that nothing reads now. In a file or a variable it is
// a warning, never an error: a settings file is shared by people with different versions.
type RemovedSetting struct {
	Name    string // as it was; "*" stands for any name
	Reason  string
	Instead string // what applies now
}

// Reasons that several removed settings share.
const (
	reasonBackstop  = "it is a backstop against a loop, far from what work needs"
	reasonCost      = "tokens and dollars are limited where they add up"
	reasonThreshold = "a threshold of an alert, which is only a message"
	reasonSize      = "other checks of a plan assume this size"
	reasonStuck     = "the rules for stuck tasks were measured together"
	reasonKinds     = "a kind of lesson costs nothing while it is unused"
	reasonSilence   = "a program that is silent for longer does not answer any more"
)

// RemovedSettings returns all of them.
func RemovedSettings() []RemovedSetting {
	return slices.Concat(settingsMadeConstant(), mergedSettings())
}

// settingsMadeConstant returns the removed settings that have one value for everybody now.
func settingsMadeConstant() []RemovedSetting {
	return []RemovedSetting{
		{"limits.dispatches", reasonBackstop, "500 attempts in a run, and budget.run and limits.run_time"},
		{"limits.land_tries", reasonBackstop, "3 tries to land an accepted attempt"},
		{"limits.majors_block", "a reviewer calls a finding major if it should not land", "one major finding blocks"},
		{"limits.calls", reasonBackstop, "600 tool calls in a session, and limits.turns"},
		{"limits.tool_calls", reasonBackstop, "400 calls of one tool in a session, and limits.turns"},
		{"limits.failed_calls", reasonBackstop, "150 failed calls in a session"},
		{"limits.failed_in_row", reasonBackstop, "20 failed calls in a row"},
		{"limits.compact", "it follows from the model's context", "70 percent of the context"},
		{"limits.answer_time", reasonBackstop, "30m for one answer; limits.turn_time limits a model's silence"},
		{"alerts.denials", reasonThreshold, "more than 10 refused calls in a minute; alerts.denied says what follows"},
		{"alerts.failures", reasonThreshold, "more than 5 failed calls and attempts in a minute"},
		{"alerts.tokens", reasonThreshold, "90 percent of budget.tokens"},
		{"alerts.rounds", reasonThreshold, "25 rounds of a task"},
		{"alerts.memory", reasonThreshold, "95 percent of the machine's memory"},
		{"alerts.disk", reasonThreshold, "less than 1G free"},
		{"alerts.lasting", reasonThreshold, "30s past the bound"},
		{"regression.time", "the checks are few and quick, and the planner works meanwhile", "1m for all of them"},
		{"done.rewritten_lines", "it is part of what a rewritten file is", "20 lines, and half of the file"},
		{"done.rewritten_percent", "it is part of what a rewritten file is", "20 lines, and half of the file"},
		{"done.coverage_target", "it blocked nothing", "80 percent is reported; done.coverage_minimum blocks"},
		{"done.coverage_new_target", "it blocked nothing", "80 percent is reported; done.coverage_minimum blocks"},
		{"plan.minutes", reasonSize, "30 minutes for a task; plan.oversize says what happens to a larger one"},
		{"plan.files", reasonSize, "5 files for a task; plan.oversize says what happens to a larger one"},
		{"plan.criteria", reasonSize, "6 criteria for a task"},
		{"plan.characters", reasonSize, "2000 characters for a task"},
		{"plan.parts", reasonSize, "5 parts, split again at most 3 times"},
		{"replan.time", reasonStuck, "150 percent of a task's estimate"},
		{"replan.least", reasonStuck, "5m for every task"},
		{"replan.files", reasonStuck, "3 files that the task does not declare"},
		{"replan.failures", reasonStuck, "5 red rounds in a row"},
		{"discover.keep", "findings are found again when the files, programs or settings change", "24h; nexus discover --fresh finds them again now"},
		{"checkpoint.on", "a checkpoint is a few refs and costs nothing", "checkpoints at waves, risks, publishing and failures, the last 50"},
		{"checkpoint.every", "a checkpoint is a few refs and costs nothing", "2h; nexus checkpoint NAME makes one now"},
		{"improve.most_rest", "a look at an unchanged tree costs nothing", "15m"},
		{"git.notes", "they are a ref of their own that Nexus does not push", "each published commit has notes in refs/notes/nexus"},
		{"precheck.dirty", "it is one of the checks before a run", "a notice; precheck.skip = [\"changes\"] leaves it out, precheck.strict = true makes notices blockers"},
		{"limits.quota", reasonBackstop, "95 percent of the quota's window"},
		{"checkpoint.keep", "a checkpoint is a few refs and costs nothing", "the last 50 automatic ones, for 30 days"},
		{"lsp.*.timeout", reasonSilence, "two minutes"},
		{"pipeline.*.order", "names are an order", "steps run in the order of their names, such as 10-docs and 20-size"},
		{"notify.zone", "a machine has a time zone", "that of the machine, or of the variable TZ"},
		{"notify.ways.*.most", "a longer message is not read on a phone", "10 notices in a message"},
		{"notify.ways.*.tls", "it follows from the server", "mail is encrypted: from the start at port 465, by STARTTLS elsewhere, and if it is offered on this machine"},
		{"channels.auto.money", "an answer costs at most a cent", "20 cents in a run"},
		{"memory.proposals", "what was not approved in a quarter is not missed", "90 days"},
		{"memory.unused", "what no task needed in a year is about code of another time", "365 days"},
		{"memory.embed.hosts", "memory.embed.url names the host, in a file of yours", "any host over https, this machine also over http"},
		{"improve.open", "a person reviews no more in a sitting", "3 branches; improve.waiting limits the results"},
		{"improve.rest", "a look at an unchanged tree costs nothing", "1s after the first cycle without work, then twice as long each time up to 15m"},
		{"regression.sample", "the checks are few and quick, and the planner works meanwhile", "3 criteria of earlier runs"},
		{"gates.ci", "a test runner must not write what it expects", "gates run with CI=true, unless your environment sets CI"},
		{"plan.refusals", reasonBackstop, "5 other plans, then the last one waits"},
		{"done.files", "a change that is small in lines is small in files", "one file for each 50 lines of done.lines"},
		{"done.coverage_drop", "two measurements of the same tests differ by less", "1 point"},
		{"limits.same", reasonStuck, "3 equal failures, or equal trees, end a repair"},
		{"limits.review_rounds", reasonBackstop, "3 rejected reviews end an attempt"},
		{"limits.losses", reasonBackstop, "an attempt may lose its process 5 times"},
		{"alerts.stuck", reasonThreshold, "5m of silence; limits.turn_time ends a model's silence"},
		{"replan.rounds", reasonStuck, "40 percent of limits.rounds"},
		{"plan.depth", reasonSize, "a part is split again at most 3 times"},
		{"checkpoint.age", "a checkpoint is a few refs and costs nothing", "nexus clean removes automatic ones after 30 days"},
		{"lessons.sample", "fewer tasks show nothing, and more are rare", "5 tasks for a lesson"},
		{"gates.linger", "a test runner that reported all results has nothing left to say", "10s"},
		{"mutation.time", "it follows from how long the tests take", "30s to 20m; mutation.sample limits the number of faults"},
		{"context.history", "older commits say little about the code of today", "2000 commits"},
	}
}

// mergedSettings returns the removed settings that another setting decides now.
func mergedSettings() []RemovedSetting {
	return []RemovedSetting{
		{"limits.per_role.*", "one limit on work in progress is enough", "limits.parallel"},
		{"limits.session_tokens", reasonCost, "budget.task, budget.run and budget.tokens"},
		{"gates.timeout", "it was the same as limits.gate_time", "limits.gate_time"},
		{"lessons.routing", reasonKinds, "lessons.enabled"},
		{"lessons.estimates", reasonKinds, "lessons.enabled"},
		{"lessons.gates", reasonKinds, "lessons.enabled; gates.order wins over what was learned"},
		{"lessons.touches", reasonKinds, "lessons.enabled"},
		{"lessons.retries", reasonKinds, "lessons.enabled"},
		{"lessons.context", reasonKinds, "lessons.enabled"},
		{"memory.tokens", "it is the size of a part of the prompts, as context.map and context.docs are", "context.memory"},
		{"limits.session_time", "a session cannot outlast its task", "limits.task_time"},
		{"agents.*.silence", reasonSilence, "limits.turn_time"},
		{"pipeline.*.timeout", "the command of a step is a gate", "limits.gate_time"},
		{"gates.scope", "it is the same question as which tests run for a change", "gates.related; with off, the gates of all packages judge each change"},
		{"done.coverage_new_minimum", "new lines need as many tests as the others", "done.coverage_minimum"},
		{"channels.webhook.public", "an address for answers says that other machines reach it", "channels.webhook.answers"},
		{"notify.ways.*.window", "it is one choice with digest", "notify.ways.NAME.digest, which is 5m or 18:00"},
		{"notify.ways.*.url_env", "a way has one secret", "notify.ways.NAME.secret_env"},
		{"notify.ways.*.token_env", "a way has one secret", "notify.ways.NAME.secret_env"},
		{"notify.ways.*.password_env", "a way has one secret", "notify.ways.NAME.secret_env"},
		{"notify.ways.*.base_url", "a way has one address", "notify.ways.NAME.url"},
		{"notify.ways.*.chat", "a chat receives messages as an address does", "notify.ways.NAME.to"},
		{"channels.web.token_env", "each channel has one secret", "channels.web.secret_env"},
		{"channels.telegram.token_env", "each channel has one secret", "channels.telegram.secret_env"},
		{"channels.telegram.base_url", "each channel has one address", "channels.telegram.url"},
		{"channels.auto.answers", "only questions about something ambiguous can be answered so", "questions.auto, which is the time that people have first"},
		{"channels.auto.after", "it is one choice with the questions that a model answers", "questions.auto"},
		{"telemetry.headers_env", "OpenTelemetry has a variable for them", "the variable OTEL_EXPORTER_OTLP_HEADERS"},
		{"mutation.mode", "it is a rule for what may land", "done.mutation"},
		{"routing.kinds.*", "a tier for a kind is named as one for a complexity is", "routing.code, routing.test and routing.docs"},
		{"providers.*.server", "the server software decides the API", "providers.NAME.kind, which is openrouter, ollama, vllm, lmstudio, llamacpp or compatible"},
		{"network.presets", "a registry is allowed as a host is", "network.allow"},
		{"roles.*.tier", "it is one choice with the model", "roles.NAME.model, which is also a tier"},
		{"mcp.servers.*.args", "a program and its arguments are one list", "mcp.servers.NAME.command, such as [\"node\", \"server.js\"]"},
		{"plugins.*.args", "a program and its arguments are one list", "plugins.NAME.command, such as [\"node\", \"plugin.js\"]"},
	}
}

// String returns the warning without its place.
func (r RemovedSetting) String() string {
	return fmt.Sprintf("%s is no longer a setting and has no effect: %s. Now: %s. Remove it", r.Name, r.Reason, r.Instead)
}

// findRemovedSetting returns the removed setting of a path.
func findRemovedSetting(path []string) (RemovedSetting, bool) {
	for _, r := range RemovedSettings() {
		if matchesKeyPattern(strings.Split(r.Name, "."), path) {
			return r, true
		}
	}
	return RemovedSetting{}, false
}

// hasRemovedBelow reports whether some removed setting is below a section, so that the section is walked.
func hasRemovedBelow(path []string) bool {
	return slices.ContainsFunc(RemovedSettings(), func(r RemovedSetting) bool {
		p := strings.Split(r.Name, ".")
		return len(p) > len(path) && matchesKeyPattern(p[:len(path)], path)
	})
}

// findRemovedVariable returns the removed setting that an environment variable set.
func findRemovedVariable(name string) (RemovedSetting, bool) {
	for _, r := range RemovedSettings() {
		before, after, wild := strings.Cut(keyVariable(r.Name), "*")
		if name == before && !wild || wild && len(name) > len(before+after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			return r, true
		}
	}
	return RemovedSetting{}, false
}

// warnRemoved adds the warning for a removed setting to the configuration.
func (l *settingsLoader) warnRemoved(where string, r RemovedSetting) {
	if text := where + ": " + r.String(); !slices.Contains(l.config.Warnings, text) {
		l.config.Warnings = append(l.config.Warnings, text)
	}
}

// underVariableName returns the setting under the name of the variable that set it.
func (r RemovedSetting) underVariableName(name string) RemovedSetting {
	r.Name = name
	return r
}
