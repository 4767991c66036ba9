package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"

// LessonSettings configure the lessons that runs learn from earlier runs.
type LessonSettings struct {
	Enabled bool
	Sample  int // minimum number of cases for a lesson
}

func lessonKeys() []SettingKey {
	return []SettingKey{
		newSingleKey("lessons.enabled", valuekind.BooleanKind(), "let new runs learn from earlier ones; nexus memory lists the lessons",
			func(c *Config) *bool { return &c.Lessons.Enabled }),
	}
}
