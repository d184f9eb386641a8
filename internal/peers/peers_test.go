package peers

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A peer is one server and the story of a session with it.
type peer struct {
	key     string
	about   string // its registry and name there; the version is added
	command func(t *testing.T) []string
	story   func(t *testing.T, f *facts, command []string)
	exact   []exactCall
}

// peers are in the order of the page.
func peers() []peer {
	npm := func(args ...string) func(*testing.T) []string {
		return func(t *testing.T) []string {
			return append([]string{place(t, "npm", "node_modules", ".bin", args[0])}, args[1:]...)
		}
	}
	python := func(name string, args ...string) func(*testing.T) []string {
		return func(t *testing.T) []string {
			return append([]string{place(t, name, "bin", args[0])}, args[1:]...)
		}
	}
	here := func(t *testing.T) string {
		file, err := filepath.Abs(filepath.Join("testdata", "fastmcp_server.py"))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	return []peer{
		{
			"everything", "npm @modelcontextprotocol/server-everything", npm("mcp-server-everything"), everything,
			[]exactCall{{"get-tiny-image", `{}`}, {"get-structured-content", `{"location":"Chicago"}`}, {"get-resource-links", `{"count":2}`}, {"echo", `{"message":"<b>&\u4e0a\"🌧"}`}},
		},
		{
			"filesystem", "npm @modelcontextprotocol/server-filesystem", npm("mcp-server-filesystem", "HOME"), filesystem,
			[]exactCall{{"list_allowed_directories", `{}`}, {"write_file", `{"path":"HOME/x","content":"上海🌧\n"}`}, {"read_text_file", `{"path":"HOME/x"}`}},
		},
		{
			"memory", "npm @modelcontextprotocol/server-memory", npm("mcp-server-memory"), memory,
			[]exactCall{{"read_graph", `{}`}},
		},
		{
			"thinking", "npm @modelcontextprotocol/server-sequential-thinking", npm("mcp-server-sequential-thinking"), thinking,
			[]exactCall{{"sequentialthinking", `{"thought":"1","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":9007199254740991}`}},
		},
		{
			"time", "PyPI mcp-server-time", python("current", "mcp-server-time"), clock,
			[]exactCall{{"convert_time", `{"source_timezone":"Asia/Shanghai","time":"08:00","target_timezone":"Etc/UTC"}`}},
		},
		{
			"git", "PyPI mcp-server-git", python("current", "mcp-server-git"), repository,
			[]exactCall{{"git_status", `{"repo_path":"/nowhere"}`}},
		},
		{
			"sqlite", "PyPI mcp-server-sqlite", python("sqlite", "mcp-server-sqlite", "--db-path", "HOME/test.db"), database,
			[]exactCall{{"read_query", `{"query":"SELECT 9007199254740993 AS big, 1e400 AS far"}`}},
		},
		{
			"fastmcp", "ours on PyPI fastmcp", func(t *testing.T) []string {
				return []string{place(t, "current", "bin", "python"), here(t)}
			}, fastmcp,
			[]exactCall{{"big_number", `{}`}, {"天气", `{"城市":"上海"}`}, {"order", `{"order":{"item":"茶","count":2,"filter":{"all_of":[{"field":"x"}]}}}`}},
		},
	}
}

func TestPeers(t *testing.T) {
	all := append(peers(), remotePeers()...)
	seen := make([]*facts, len(all))
	t.Run("servers", func(t *testing.T) {
		for i, p := range all {
			t.Run(p.key, func(t *testing.T) {
				t.Parallel()
				command := p.command(t)
				f := newFacts(p.key, p.about+" "+version(t, p.about), remotes()[p.key])
				p.story(t, f, slices.Clone(command))
				exact(t, f, command, p.exact)
				// Cleanups that saw something run after this; seen is read
				// when all of them have.
				seen[i] = f
			})
		}
	})
	if slices.Contains(seen, nil) || t.Failed() {
		t.Log("not every server was met: docs/compatibility.md is not compared")
		return
	}
	compare(t, seen)
}

func everything(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(13, 7, 2, 4)

	s.ok("echo", `{"message":"上海🌧"}`, "上海🌧")
	s.ok("get-sum", `{"a":40,"b":2}`, "42")
	s.ok("get-structured-content", `{"location":"Chicago"}`, `"structuredContent":{`)
	s.ok("get-tiny-image", `{}`, `"mimeType":"image/png"`)
	s.ok("get-annotated-message", `{"messageType":"error"}`, `"annotations":`)
	s.ok("get-resource-links", `{"count":2}`, `"resource_link"`)
	s.ok("get-resource-reference", `{"resourceType":"Blob","resourceId":3}`, `"blob":`)
	s.expect(s.call("get-sum", `{"a":"x","b":2}`), call.ProtocolError, "a: must be a number")
	s.expect(s.call("get-resource-links", `{"count":11}`), call.ProtocolError, "count: must be ≤ 10 (is 11)")
	s.expect(s.call("simulate-research-query", `{"topic":"x"}`), call.ProtocolError, "TASK_REQUIRED")
	s.expect(s.call("get-sun", `{}`), call.ProtocolError, "get-sum")
	f.saw("calls", "yes")

	// Nothing of our own environment reaches a server.
	env := s.ok("get-env", `{}`, "AURORA_APP_DATA_DIR")
	if strings.Contains(string(env.Raw), "TOP_SECRET") {
		t.Error("the server can read our environment")
	}

	s.read("demo://resource/static/document/features.md", `"text":`)
	s.read("demo://resource/dynamic/text/7", "7")
	s.read("demo://resource/dynamic/blob/7", `"blob":`)
	f.saw("resources", "yes")
	s.prompt("simple-prompt", ``, `"role":"user"`)
	s.prompt("args-prompt", `{"city":"上海","state":"x"}`, "上海")
	s.prompt("resource-prompt", `{"resourceType":"Text","resourceId":"1"}`, `"resource"`)
	f.saw("prompts", "yes")
	s.complete(host.Completion{Prompt: s.key + ".completable-prompt", Argument: "department", Value: "E"}, "Engineering")
	s.complete(host.Completion{
		Prompt: s.key + ".completable-prompt", Argument: "name", Value: "A", Known: map[string]string{"department": "Engineering"},
	}, "Alice")

	steps := s.progress("trigger-long-running-operation", `{"duration":0.2,"steps":4}`)
	if len(steps) != 4 || steps[3] != (call.Progress{Progress: 4, Total: 4}) {
		t.Errorf("progress: %+v", steps)
	}
	s.cancel("trigger-long-running-operation", `{"duration":3600,"steps":36000}`)

	since := s.now()
	s.subscribe("demo://resource/dynamic/text/1", func() { s.ok("toggle-subscriber-updates", `{}`, "Started") })
	s.await(since, host.SignalNotified, "notifications/message", "Received Subscribe Resource request")
	f.saw("logging", "yes")
	s.ok("toggle-subscriber-updates", `{}`, "Stopped")

	// A tool that makes a resource, which changes the list.
	since = s.now()
	link := s.ok("gzip-file-as-resource", `{"name":"x.gz","data":"data:text/plain,hello"}`, `"resource_link"`)
	s.await(since, host.SignalChanged, "resources/list", "")
	f.saw("list_changed", "resources")
	var made struct{ Content []struct{ URI string } }
	s.must(json.Unmarshal(link.Raw, &made))
	s.read(made.Content[0].URI, `"application/gzip"`)

	s.restart("echo", `{"message":"again"}`, "again")
}

func filesystem(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(14, 0, 0, 0)
	file := func(args string) string { return strings.ReplaceAll(args, "HOME", s.home) }

	s.ok("list_allowed_directories", `{}`, s.home)
	s.ok("create_directory", file(`{"path":"HOME/日记"}`), "")
	s.ok("write_file", file(`{"path":"HOME/日记/一.txt","content":"今天\n下雨 <b>&\n"}`), "")
	s.ok("read_text_file", file(`{"path":"HOME/日记/一.txt"}`), `下雨 <b>&`)
	s.ok("edit_file", file(`{"path":"HOME/日记/一.txt","edits":[{"oldText":"下雨","newText":"天晴"}]}`), "天晴")
	s.ok("move_file", file(`{"source":"HOME/日记/一.txt","destination":"HOME/日记/二.txt"}`), "")
	s.ok("list_directory", file(`{"path":"HOME/日记"}`), "二.txt")
	s.ok("directory_tree", file(`{"path":"HOME/日记"}`), "二.txt")
	s.ok("search_files", file(`{"path":"HOME","pattern":"**/二*"}`), "二.txt")
	s.ok("get_file_info", file(`{"path":"HOME/日记/二.txt"}`), "size")
	s.expect(s.call("read_text_file", `{"path":"/etc/hostname"}`), call.ToolError, "outside allowed directories")
	s.expect(s.call("read_text_file", file(`{"path":"HOME/日记/三.txt"}`)), call.ToolError, "ENOENT")
	s.expect(s.call("write_file", file(`{"path":"HOME/x","contents":"y"}`)), call.ProtocolError, `content: is missing (is "contents" meant for it?)`)
	f.saw("calls", "yes")
	s.restart("list_allowed_directories", `{}`, s.home)
}

func memory(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(9, 1, 0, 0)

	const graph = "memory://knowledge-graph"
	s.subscribe(graph, func() {
		s.ok("create_entities", `{"entities":[{"name":"小明","entityType":"人","observations":["喜欢下雨"]},{"name":"上海","entityType":"城市","observations":[]}]}`, "小明")
	})
	s.ok("create_relations", `{"relations":[{"from":"小明","to":"上海","relationType":"住在"}]}`, "住在")
	s.ok("search_nodes", `{"query":"下雨"}`, "小明")
	s.ok("open_nodes", `{"names":["上海"]}`, "城市")
	s.ok("read_graph", `{}`, "住在")
	s.expect(s.call("add_observations", `{"observations":[{"entityName":"nobody","contents":["x"]}]}`), call.ToolError, "nobody")
	s.read(graph, "住在")
	f.saw("resources", "yes")
	s.ok("delete_entities", `{"entityNames":["小明"]}`, "")
	f.saw("calls", "yes")
	s.restart("read_graph", `{}`, "上海")
}

func thinking(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(1, 0, 0, 0)
	for _, n := range []string{"1", "2", "3"} {
		s.ok("sequentialthinking", `{"thought":"想","nextThoughtNeeded":true,"thoughtNumber":`+n+`,"totalThoughts":3}`, `"thoughtHistoryLength":`+n)
	}
	s.expect(s.call("sequentialthinking", `{"thought":"想","nextThoughtNeeded":true,"thoughtNumber":0,"totalThoughts":9007199254740992}`),
		call.ProtocolError, "thoughtNumber: must be ≥ 1 (is 0); totalThoughts: must be ≤ 9007199254740991 (is 9007199254740992)")
	f.saw("calls", "yes")
	s.restart("sequentialthinking", `{"thought":"想","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtHistoryLength")
}

func clock(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(2, 0, 0, 0)
	s.ok("get_current_time", `{"timezone":"Asia/Shanghai"}`, "+08:00")
	s.ok("convert_time", `{"source_timezone":"Asia/Shanghai","time":"08:00","target_timezone":"Etc/UTC"}`, "-8.0h")
	s.expect(s.call("get_current_time", `{"timezone":"Mars/One"}`), call.ToolError, "Mars/One")
	s.expect(s.call("get_current_time", `{}`), call.ProtocolError, "timezone: is missing")
	f.saw("calls", "yes")
	s.restart("get_current_time", `{"timezone":"Etc/UTC"}`, "+00:00")
}

func repository(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(12, 0, 0, 0)
	repo := newRepository(t, s.file("仓库"))
	args := func(rest string) string { return `{"repo_path":` + quoted(repo) + rest + `}` }

	s.ok("git_status", args(``), "Untracked files")
	s.ok("git_add", args(`,"files":["日记.txt"]`), "")
	s.ok("git_diff_staged", args(``), "下雨")
	s.ok("git_commit", args(`,"message":"第一天"`), "")
	s.ok("git_log", args(`,"max_count":1`), "第一天")
	s.ok("git_create_branch", args(`,"branch_name":"next"`), "next")
	s.ok("git_checkout", args(`,"branch_name":"next"`), "next")
	s.ok("git_branch", args(`,"branch_type":"local"`), "next")
	s.ok("git_show", args(`,"revision":"HEAD"`), "下雨")
	s.expect(s.call("git_show", args(`,"revision":"nowhere"`)), call.ToolError, "nowhere")
	s.expect(s.call("git_add", args(`,"files":[]`)), call.ProtocolError, "files: must have at least 1 item (has 0)")
	f.saw("calls", "yes")
	s.restart("git_log", args(``), "第一天")
}

func database(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(6, 1, 0, 1)
	s.ok("create_table", `{"query":"CREATE TABLE 天气 (城市 TEXT, 度 INTEGER)"}`, "")
	s.ok("write_query", `{"query":"INSERT INTO 天气 VALUES ('上海', 12), ('北京', 9007199254740993)"}`, "2")
	s.ok("read_query", `{"query":"SELECT * FROM 天气"}`, "9007199254740993")
	s.ok("list_tables", `{}`, "天气")
	s.ok("describe_table", `{"table_name":"天气"}`, "INTEGER")
	// It reports its own errors as successes; so do we.
	s.ok("read_query", `{"query":"DELETE FROM 天气"}`, "Only SELECT queries are allowed")
	f.saw("calls", "yes")
	// It tells of a change though it has no subscriptions.
	since := s.now()
	s.ok("append_insight", `{"insight":"多雨"}`, "")
	s.await(since, host.SignalNotified, "notifications/resources/updated", "memo://insights")
	s.read("memo://insights", "多雨")
	f.saw("resources", "yes")
	s.prompt("mcp-demo", `{"topic":"天气"}`, "天气")
	f.saw("prompts", "yes")
	s.restart("list_tables", `{}`, "天气")
}

func fastmcp(t *testing.T, f *facts, command []string) {
	s := up(t, f, command...)
	s.lists(8, 1, 1, 1)

	s.ok("order", `{"order":{"item":"茶","count":2,"filter":{"all_of":[{"field":"x"}]}}}`, "茶")
	s.expect(s.call("order", `{"order":{"item":"茶","count":100}}`), call.ProtocolError, "order.count: must be ≤ 99 (is 100)")
	s.expect(s.call("order", `{"order":{"item":"茶","count":1,"filter":{"all_of":[7]}}}`), call.ProtocolError, "order.filter.all_of[0]: must be an object")
	s.expect(s.call("order", `{"order":{"item":"茶","count":1},"nota":"x"}`), call.ProtocolError, `did you mean "note"?`)
	s.ok("big_number", `{}`, "9007199254740993")
	s.ok("天气", `{"城市":"上海"}`, "上海：晴🌧")
	s.expect(s.call("broken", `{}`), call.ToolError, "out of coffee")
	f.saw("calls", "yes")

	// The alias that a model would use leads to the same tool.
	ctx, stop := s.limit()
	defer stop()
	for _, tool := range s.host.Catalog().Tools() {
		if tool.Upstream == "天气" {
			s.expect(s.host.Call(ctx, call.Call{Caller: caller, Name: tool.Alias, Args: json.RawMessage(`{"城市":"北京"}`)}), call.OK, "北京")
		}
	}

	s.read("note://today", "今天")
	s.read("note://day/monday", "note of monday")
	f.saw("resources", "yes")
	s.prompt("greet", `{"name":"小明","tone":"wry"}`, "小明")
	f.saw("prompts", "yes")
	s.complete(host.Completion{Prompt: s.key + ".greet", Argument: "tone", Value: "w"}, "warm", "wry")
	s.complete(host.Completion{Prompt: s.key + ".greet", Argument: "tone", Value: "w", Known: map[string]string{"name": "teacher"}}, "warm")

	steps := s.progress("steps", `{"count":3}`)
	if len(steps) != 3 || steps[2] != (call.Progress{Progress: 3, Total: 3, Message: "step 3"}) {
		t.Errorf("progress: %+v", steps)
	}
	marker := s.file("cancelled")
	s.cancel("wait", `{"marker":`+quoted(marker)+`}`)
	s.appears(marker, "cancelled")

	since := s.now()
	s.ok("say", `{"text":"有声"}`, "said")
	s.await(since, host.SignalNotified, "notifications/message", "有声")
	f.saw("logging", "yes")

	since = s.now()
	s.ok("grow", `{}`, "one more")
	s.await(since, host.SignalChanged, "tools/list", "")
	f.saw("list_changed", "tools")
	s.ok("grown", `{}`, "grown")

	s.restart("big_number", `{}`, "9007199254740993")
}
