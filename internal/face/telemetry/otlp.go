package telemetry

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The JSON types of OTLP's ExportTraceServiceRequest.
type (
	request struct {
		Resources []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource resource     `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []pair `json:"attributes"`
	}
	scopeSpans struct {
		Scope  scope  `json:"scope"`
		Schema string `json:"schemaUrl"`
		Spans  []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitzero"`
	}
	span struct {
		Trace      string `json:"traceId"`
		ID         string `json:"spanId"`
		Parent     string `json:"parentSpanId,omitzero"`
		Name       string `json:"name"`
		Kind       Kind   `json:"kind"`
		Start      string `json:"startTimeUnixNano"`
		End        string `json:"endTimeUnixNano"`
		Attributes []pair `json:"attributes"`
		Status     status `json:"status"`
	}
	status struct {
		Code    int    `json:"code,omitzero"` // 2: an error
		Message string `json:"message,omitzero"`
	}
	pair struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string  `json:"stringValue,omitempty"`
		Int    *string  `json:"intValue,omitempty"`
		Double *float64 `json:"doubleValue,omitempty"`
		Bool   *bool    `json:"boolValue,omitempty"`
	}
)

// schema identifies the conventions for the names.
const schema = "https://opentelemetry.io/schemas/1.41.0"

// longest limits the length of a text, in bytes.
const longest = 1024

// Encode returns the request body with spans for a collector. Texts are masked.
func Encode(all []TraceSpan, version string, mask func(string) string) ([]byte, error) {
	spans := make([]span, 0, len(all))
	for _, s := range all {
		out := span{
			Trace: s.Trace, ID: s.ID, Parent: s.Parent, Name: truncateText(mask(s.Name)), Kind: s.Kind,
			Start: formatNanos(s.Start), End: formatNanos(s.End), Attributes: encodeAttributes(s.Attributes, mask),
		}
		if s.Failed != "" {
			out.Status = status{2, truncateText(mask(s.Failed))}
		}
		spans = append(spans, out)
	}
	return json.Marshal(request{[]resourceSpans{{
		Resource: resource{encodeAttributes([]Attribute{{"service.name", "nexus"}, {"service.version", version}}, mask)},
		Scopes:   []scopeSpans{{Scope: scope{"nexus", version}, Schema: schema, Spans: spans}},
	}}})
}

func formatNanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func truncateText(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return s
}

func encodeAttributes(all []Attribute, mask func(string) string) []pair {
	out := make([]pair, 0, len(all))
	for _, a := range all {
		var v value
		switch x := a.Value.(type) {
		case int64:
			text := strconv.FormatInt(x, 10)
			v.Int = &text
		case float64:
			v.Double = &x
		case bool:
			v.Bool = &x
		default:
			text := truncateText(mask(fmt.Sprint(x)))
			v.String = &text
		}
		out = append(out, pair{a.Key, v})
	}
	return out
}
