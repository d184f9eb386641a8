package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// versions are the protocol versions of the handshake era, newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// An era is how a session begins; the seam between families of protocol
// versions. It returns when the session may be used.
type era func(ctx context.Context, s *Session) (Info, error)

// eraOf picks the era of a protocol option.
func eraOf(protocol string) (era, error) {
	switch {
	case protocol == "" || protocol == "auto":
		return handshake(versions), nil
	case slices.Contains(versions, protocol):
		return handshake([]string{protocol}), nil
	}
	return nil, fmt.Errorf("protocol %q is not spoken; use auto or one of %s", protocol, strings.Join(versions, ", "))
}

// discoverTime bounds the question that tells a stateless server from a broken one.
const discoverTime = 2 * time.Second

// handshake is the era that begins with initialize (MCP 2025-11-25,
// basic/lifecycle#initialization). It offers the first of ours and accepts any.
func handshake(ours []string) era {
	return func(ctx context.Context, s *Session) (Info, error) {
		result, err := s.initialize(ctx, ours[0])
		var refused *RPCError
		if errors.As(err, &refused) {
			result, err = s.negotiate(ctx, ours, refused)
		}
		if err != nil {
			return Info{}, err
		}
		info, err := parseInfo(result.Raw, ours)
		if err != nil {
			return Info{}, err
		}
		if err := s.send(ctx, methodInitialized, nil); err != nil {
			return Info{}, err
		}
		return info, nil
	}
}

// negotiate looks for another version after an error, once.
func (s *Session) negotiate(ctx context.Context, ours []string, refused *RPCError) (Result, error) {
	theirs := supported(refused.Data, "supported")
	if theirs == nil {
		theirs = named(refused.Message, ours[1:])
	}
	if theirs == nil {
		switch refused.Code {
		case CodeMethodNotFound, CodeInvalidParams, CodeInvalidRequest, CodeUnsupportedVersion:
			theirs = s.discover(ctx)
		}
	}
	if theirs == nil || slices.Contains(theirs, ours[0]) {
		return Result{}, refused
	}
	for _, v := range ours {
		if slices.Contains(theirs, v) {
			return s.initialize(ctx, v)
		}
	}
	return Result{}, &VersionError{Ours: ours, Peer: strings.Join(theirs, ", ")}
}

// named returns those of our versions that the message of an error names: some
// servers say to people only what they speak.
func named(message string, ours []string) []string {
	var list []string
	for _, v := range ours {
		if strings.Contains(message, v) {
			list = append(list, v)
		}
	}
	return list
}

// discover asks which versions a server speaks that does not know initialize;
// nil if it does not answer that either (MCP 2026-07-28, server/discover).
func (s *Session) discover(ctx context.Context) []string {
	params := []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":`)
	params = append(s.o.Client.append(params), `,"io.modelcontextprotocol/clientCapabilities":{}}}`...)
	result, err := s.Request(ctx, "server/discover", params, &RequestOptions{Whole: discoverTime})
	var refused *RPCError
	if errors.As(err, &refused) {
		return supported(refused.Data, "supported")
	}
	return supported(result.Raw, "supportedVersions")
}

// initialize sends one initialize request.
func (s *Session) initialize(ctx context.Context, version string) (Result, error) {
	params := append([]byte(nil), `{"protocolVersion":`...)
	params = appendQuoted(params, version)
	params = append(params, `,"capabilities":`...)
	params = s.o.Grants.append(params)
	params = append(params, `,"clientInfo":`...)
	params = append(s.o.Client.append(params), '}')
	whole := s.o.SoftTimeout
	if d, ok := ctx.Deadline(); ok {
		whole = max(time.Until(d), time.Nanosecond)
	}
	return s.Request(ctx, methodInitialize, params, &RequestOptions{Whole: whole})
}

// append writes an Implementation as clientInfo.
func (i Implementation) append(b []byte) []byte {
	b = appendQuoted(append(b, `{"name":`...), i.Name)
	b = appendQuoted(append(b, `,"title":`...), i.Title)
	b = appendQuoted(append(b, `,"version":`...), i.Version)
	return append(b, '}')
}

// append writes the client capabilities that the grants amount to.
func (g Grants) append(b []byte) []byte {
	b = append(b, '{')
	for _, c := range []struct {
		granted bool
		text    string
	}{
		{g.Roots != nil, `"roots":{}`},
		{g.Sampling != nil, `"sampling":{}`},
		{g.Elicitation != nil, `"elicitation":{}`},
	} {
		if !c.granted {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, c.text...)
	}
	return append(b, '}')
}

// parseInfo reads the result of initialize. Only the version must be right.
func parseInfo(raw []byte, ours []string) (Info, error) {
	result := object(raw)
	version := stringOf(result["protocolVersion"])
	if !slices.Contains(ours, version) {
		peer := cmp.Or(version, string(result["protocolVersion"]), "no version")
		return Info{}, &VersionError{Ours: ours, Peer: clipString(peer)}
	}
	server := object(result["serverInfo"])
	return Info{
		ProtocolVersion: version,
		Era:             "handshake",
		Capabilities:    parseCapabilities(result["capabilities"]),
		Server: Implementation{
			Name:    stringOf(server["name"]),
			Title:   stringOf(server["title"]),
			Version: stringOf(server["version"]),
		},
		Instructions: stringOf(result["instructions"]),
		Raw:          raw,
	}, nil
}

// supported reads the strings of an array member, or one string; nil if there are
// none.
func supported(raw []byte, name string) []string {
	var list []string
	member := object(raw)[name]
	if one := stringOf(member); one != "" {
		return []string{one}
	}
	elements(member, func(value []byte) {
		if v := stringOf(value); v != "" {
			list = append(list, v)
		}
	})
	return list
}
