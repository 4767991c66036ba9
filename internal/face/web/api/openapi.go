package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// customSchemas returns the schemas of types whose JSON differs from their fields.
func customSchemas() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[nexus.Money]():     {Type: "number", Description: "dollars"},
		reflect.TypeFor[json.RawMessage](): {},
	}
}

// typeSchema describes a type.
func typeSchema(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: customSchemas()})
}

type openAPIObject = map[string]any

const about = "Runs, questions for people, and actions on both."

var wildcard = regexp.MustCompile(`\{([a-z]+)(\.\.\.)?\}`)

// OpenAPI describes the API, in JSON.
func OpenAPI() ([]byte, error) {
	schemas, paths := openAPIObject{}, openAPIObject{}
	name := func(t reflect.Type) (openAPIObject, error) {
		s, err := typeSchema(t)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", t, err)
		}
		key := strings.NewReplacer("[", "_", "]", "").Replace(shortName(t))
		schemas[key] = s
		return openAPIObject{"$ref": "#/components/schemas/" + key}, nil
	}
	problem, err := name(reflect.TypeFor[access.ProblemResponse]())
	if err != nil {
		return nil, err
	}
	refusal := openAPIObject{"description": "why it was not done", "content": openAPIObject{"application/json": openAPIObject{"schema": problem}}}
	for _, e := range append(readEndpoints(), eventStreamEndpoint()) {
		op := openAPIObject{
			"summary": e.about, "operationId": operationID(e), "x-nexus-role": e.role, "parameters": parameterList(e),
		}
		responses := openAPIObject{"default": refusal}
		answer := openAPIObject{"description": e.about, "content": openAPIObject{"text/event-stream": openAPIObject{"schema": openAPIObject{"type": "string"}}}}
		if e.path != access.Events {
			ref, err := name(e.answer)
			if err != nil {
				return nil, err
			}
			answer["content"] = openAPIObject{"application/json": openAPIObject{"schema": ref}}
		} else if _, err := name(e.answer); err != nil {
			return nil, err
		}
		responses["2XX"], op["responses"] = answer, responses
		if e.body != nil {
			ref, err := name(e.body)
			if err != nil {
				return nil, err
			}
			op["requestBody"] = openAPIObject{"required": true, "content": openAPIObject{"application/json": openAPIObject{"schema": ref}}}
		}
		path := wildcard.ReplaceAllString(e.path, "{$1}")
		methods, ok := paths[path].(openAPIObject)
		if !ok {
			methods = openAPIObject{}
			paths[path] = methods
		}
		methods[strings.ToLower(e.method)] = op
	}
	return json.MarshalIndent(openAPIObject{
		"openapi":    "3.1.0",
		"info":       openAPIObject{"title": "Nexus", "version": "1", "description": about},
		"paths":      paths,
		"components": openAPIObject{"schemas": schemas, "securitySchemes": openAPIObject{"token": openAPIObject{"type": "http", "scheme": "bearer"}}},
		"security":   []openAPIObject{{"token": []string{}}},
	}, "", "  ")
}

// eventStreamEndpoint returns the event stream as an endpoint.
func eventStreamEndpoint() apiEndpoint {
	return apiEndpoint{
		method: "GET", path: access.Events, role: access.Read, answer: reflect.TypeFor[view.EventStreamLine](),
		about: "new events, as server-sent events; data is an Event, id its number",
		query: []queryParameter{
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

func operationID(e apiEndpoint) string {
	parts := strings.FieldsFunc(strings.TrimPrefix(e.path, "/api/v1/"), func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	return strings.ToLower(e.method) + "_" + strings.Join(parts, "_")
}

func parameterList(e apiEndpoint) []openAPIObject {
	all := []openAPIObject{}
	for _, m := range wildcard.FindAllStringSubmatch(e.path, -1) {
		all = append(all, openAPIObject{"name": m[1], "in": "path", "required": true, "schema": openAPIObject{"type": "string"}})
	}
	for _, p := range e.query {
		all = append(all, openAPIObject{"name": p.name, "in": "query", "description": p.about, "schema": openAPIObject{"type": "string"}})
	}
	return all
}
