// Package otlp reads what Nexus sends to collectors of traces with the types of
// OpenTelemetry.
package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"regexp"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestTrace reads the golden file of face/telemetry. In OTLP, ids are written in
// hexadecimal digits, where the JSON of protocol buffers has base64.
func TestTrace(t *testing.T) {
	data, err := os.ReadFile("../../face/telemetry/testdata/trace.json")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]*)"`)
	data = ids.ReplaceAllFunc(data, func(m []byte) []byte {
		part := ids.FindSubmatch(m)
		raw, err := hex.DecodeString(string(part[2]))
		if err != nil {
			t.Fatal(err)
		}
		return []byte(`"` + string(part[1]) + `":"` + base64.StdEncoding.EncodeToString(raw) + `"`)
	})
	var r collector.ExportTraceServiceRequest
	if err := protojson.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	spans := r.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()
	if len(spans) < 10 {
		t.Errorf("%d spans", len(spans))
	}
	for _, s := range spans {
		if len(s.GetTraceId()) != 16 || len(s.GetSpanId()) != 8 || s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() || s.GetKind() == 0 {
			t.Errorf("%s", s)
		}
		if s.GetName() != "chat claude-haiku-5-5" {
			continue
		}
		values := map[string]int64{}
		for _, a := range s.GetAttributes() {
			values[a.GetKey()] = a.GetValue().GetIntValue()
		}
		if values["gen_ai.usage.input_tokens"] != 150 || values["gen_ai.usage.output_tokens"] != 20 || values["gen_ai.usage.cache_read.input_tokens"] != 50 {
			t.Error(values)
		}
	}
}
