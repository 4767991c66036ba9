package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// LessonSettings configure the lessons that runs learn from earlier runs.
type LessonSettings struct {
	Enabled                                              bool
	Sample                                               int    // minimum number of cases for a lesson
	Routing, Estimates, Gates, Touches, Retries, Context string // on or off
}

// DisabledKinds returns the kinds of lessons that are turned off.
func (l LessonSettings) DisabledKinds() map[nexus.LessonKind]bool {
	off := map[nexus.LessonKind]bool{}
	for kind, set := range map[nexus.LessonKind]string{
		nexus.RoutingLesson: l.Routing, nexus.EstimateLesson: l.Estimates, nexus.GateOrder: l.Gates,
		nexus.TouchLesson: l.Touches, nexus.RetryLesson: l.Retries, nexus.ContextLesson: l.Context,
	} {
		off[kind] = !l.Enabled || set == "off"
	}
	return off
}

func defaultLessons() LessonSettings {
	return LessonSettings{Enabled: true, Sample: 5, Routing: "on", Estimates: "on", Gates: "on", Touches: "on", Retries: "on", Context: "on"}
}

func lessonKeys() []SettingKey {
	what := func(name, says string, at func(c *Config) *string) SettingKey {
		return singleKey("lessons."+name, kind.OneOf("on", "off"), says, at)
	}
	return []SettingKey{
		singleKey("lessons.enabled", kind.Boolean(), "let new runs learn from earlier ones; nexus lessons lists the lessons",
			func(c *Config) *bool { return &c.Lessons.Enabled }),
		singleKey("lessons.sample", kind.WholeNumber(1, 1_000), "minimum number of tasks for a lesson; estimates have their own minimum",
			func(c *Config) *int { return &c.Lessons.Sample }),
		what("routing", "learn at which tier to start tasks, if routing.order contains adaptive",
			func(c *Config) *string { return &c.Lessons.Routing }),
		what("estimates", "learn the time and cost of tasks; off: use a rule of thumb", func(c *Config) *string { return &c.Lessons.Estimates }),
		what("gates", "learn in which order to run gates; gates.order wins", func(c *Config) *string { return &c.Lessons.Gates }),
		what("touches", "learn which files tasks change without declaring them, so that two tasks that change the same file do not run at once",
			func(c *Config) *string { return &c.Lessons.Touches }),
		what("retries", "learn after which failures the next tier follows at once",
			func(c *Config) *string { return &c.Lessons.Retries }),
		what("context", "learn which files coders read first, and name them", func(c *Config) *string { return &c.Lessons.Context }),
	}
}
