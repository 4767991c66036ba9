package acpserver

import (
	"context"
	"encoding/json"
)

// sessionOptionValues returns the session's options with their current values.
func sessionOptionValues(s ServedSession) map[string]any {
	r, options := map[string]any{}, []SessionOption{}
	for _, o := range s.Options() {
		o.Type = "select"
		if o.ID == ModeOption {
			modes := []any{}
			for _, c := range o.Choices {
				modes = append(modes, map[string]any{"id": c.Value, "name": c.Name, "description": c.About})
			}
			r["modes"] = map[string]any{"currentModeId": o.Value, "availableModes": modes}
		}
		options = append(options, o)
	}
	r["configOptions"] = options
	return r
}

func (s *Server) setSessionMode(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		ID   string `json:"sessionId"`
		Mode string `json:"modeId"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	one, err := s.changeSessionOption(p.ID, ModeOption, p.Mode)
	if err != nil {
		return nil, nil, err
	}
	c := &Client{ID: p.ID, link: s.link}
	c.sendUpdate("config_option_update", map[string]any{"configOptions": sessionOptionValues(one)["configOptions"]})
	return struct{}{}, nil, nil
}

func (s *Server) setSessionOption(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		ID     string `json:"sessionId"`
		Option string `json:"configId"`
		Value  string `json:"value"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	one, err := s.changeSessionOption(p.ID, p.Option, p.Value)
	if err != nil {
		return nil, nil, err
	}
	if p.Option == ModeOption {
		c := &Client{ID: p.ID, link: s.link}
		c.sendUpdate("current_mode_update", map[string]any{"currentModeId": p.Value})
	}
	return map[string]any{"configOptions": sessionOptionValues(one)["configOptions"]}, nil, nil
}

// changeSessionOption sets an option of a session.
func (s *Server) changeSessionOption(id, option, value string) (ServedSession, error) {
	s.mu.Lock()
	one, err := s.findSession(id)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, o := range one.Options() {
		for _, c := range o.Choices {
			if o.ID == option && c.Value == value {
				return one, one.Set(option, value)
			}
		}
	}
	return nil, &rpcRequestError{Code: codeParams, Message: "there is no " + quoteName(option) + " with the value " + quoteName(value)}
}
