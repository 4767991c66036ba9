package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"

// TelemetrySettings configures the export of run traces.
type TelemetrySettings struct {
	Endpoint string // of a collector for OTLP over HTTP; empty: no export
	Contents bool   // goals, commands and paths are included
}

func telemetryKeys() []SettingKey {
	const where = "it decides where figures of your runs are sent"
	return []SettingKey{
		newSingleKey("telemetry.endpoint", valuekind.WebAddressKind(), "OpenTelemetry collector that gets the traces of runs (OTLP over HTTP); without one, nothing is sent; the variable OTEL_EXPORTER_OTLP_HEADERS holds the headers of each call; see docs/answer-and-share.md",
			func(c *Config) *string { return &c.Telemetry.Endpoint }).withProjectDenied(where),
		newSingleKey("telemetry.contents", valuekind.BooleanKind(), "also send goals and the subjects of tool calls; if false, only names and figures are sent",
			func(c *Config) *bool { return &c.Telemetry.Contents }).withProjectDenied(where),
	}
}
