package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// shapes returns the schemas of types whose JSON differs from their fields.
func shapes() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[nexus.Money]():     {Type: "number", Description: "dollars"},
		reflect.TypeFor[json.RawMessage](): {},
	}
}

// schema describes a type.
func schema(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: shapes()})
}

type object = map[string]any

const about = "Runs, questions for people, and actions on both."

var wildcard = pattern.Lazy(`\{([a-z]+)(\.\.\.)?\}`)

// OpenAPI describes the API, in JSON.
func OpenAPI() ([]byte, error) {
	schemas, paths := object{}, object{}
	name := func(t reflect.Type) (object, error) {
		s, err := schema(t)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", t, err)
		}
		key := strings.NewReplacer("[", "_", "]", "").Replace(shortName(t))
		schemas[key] = s
		return object{"$ref": "#/components/schemas/" + key}, nil
	}
	problem, err := name(reflect.TypeFor[access.Problem]())
	if err != nil {
		return nil, err
	}
	refusal := object{"description": "why it was not done", "content": object{"application/json": object{"schema": problem}}}
	for _, e := range append(endpoints(), streamed()) {
		op := object{
			"summary": e.about, "operationId": operation(e), "x-nexus-role": e.role, "parameters": parameters(e),
		}
		responses := object{"default": refusal}
		answer := object{"description": e.about, "content": object{"text/event-stream": object{"schema": object{"type": "string"}}}}
		if e.path != access.Events {
			ref, err := name(e.answer)
			if err != nil {
				return nil, err
			}
			answer["content"] = object{"application/json": object{"schema": ref}}
		} else if _, err := name(e.answer); err != nil {
			return nil, err
		}
		responses["2XX"], op["responses"] = answer, responses
		if e.body != nil {
			ref, err := name(e.body)
			if err != nil {
				return nil, err
			}
			op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": ref}}}
		}
		path := wildcard().ReplaceAllString(e.path, "{$1}")
		methods, ok := paths[path].(object)
		if !ok {
			methods = object{}
			paths[path] = methods
		}
		methods[strings.ToLower(e.method)] = op
	}
	return json.MarshalIndent(object{
		"openapi":    "3.1.0",
		"info":       object{"title": "Nexus", "version": "1", "description": about},
		"paths":      paths,
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
		"security":   []object{{"token": []string{}}},
	}, "", "  ")
}

// streamed returns the event stream as an endpoint.
func streamed() endpoint {
	return endpoint{
		method: "GET", path: access.Events, role: access.Read, answer: reflect.TypeFor[view.Event](),
		about: "new events, as server-sent events; data is an Event, id its number",
		query: []param{
			{"run", "only events of this run"},
			{"task", "only events about this task of the run"},
			{"kind", "only these kinds of facts, separated by commas; docs/events.md lists them"},
			{"after", "events after the one with this number: 0 for all; only new ones if not given. The header Last-Event-ID says the same"},
		},
	}
}

func shortName(t reflect.Type) string {
	return regexp.MustCompile(`[A-Za-z0-9./_-]+\.`).ReplaceAllString(t.Name(), "")
}

func operation(e endpoint) string {
	parts := strings.FieldsFunc(strings.TrimPrefix(e.path, "/api/v1/"), func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	return strings.ToLower(e.method) + "_" + strings.Join(parts, "_")
}

func parameters(e endpoint) []object {
	all := []object{}
	for _, m := range wildcard().FindAllStringSubmatch(e.path, -1) {
		all = append(all, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range e.query {
		all = append(all, object{"name": p.name, "in": "query", "description": p.about, "schema": object{"type": "string"}})
	}
	return all
}
