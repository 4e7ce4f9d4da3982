"""The hosts: their packages, how each is told where its model provider is, and how each is run without a terminal.

No host may reach another machine: base URLs are on loopback, and telemetry, updates and lists of models are switched off by
the settings and variables that each host documents for it.
"""

import dataclasses
import json
import pathlib
import typing

MODEL = "recorder"


@dataclasses.dataclass
class Place:
    """Folders of one trial: the user's home and a project."""

    user: pathlib.Path
    project: pathlib.Path

    def write(self, name, text):
        path = self.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@dataclasses.dataclass
class Host:
    """A host: `settings` writes where the provider is; `command` and `environment` run one prompt."""

    name: str
    title: str
    package: str
    program: str
    settings: typing.Callable[[Place, str, str], None]
    arguments: typing.Callable[[str], list]
    environment: typing.Callable[[str, str], dict]
    # How memory reaches it, in the order in which it is tried: hooks, plugin, mcp, proxy.
    ways: tuple
    # Base URL of the provider below the server's address, and the same for our proxy.
    base: str = "/v1"
    proxy_base: str = "/v1"
    provider: str = "openai"
    # What a person must know: printed in the table.
    note: str = ""
    # The prompt comes on standard input.
    reads_input: bool = False
    # `connect` sets up its proxy.
    connects_proxy: bool = False
    # Registry of the package: npm or PyPI.
    registry: str = "npm"
    # A package that the host itself installs into a folder of the user's home when it has a network.
    dependency: str = ""
    dependency_folder: str = ""


def nothing(_place, _url, _key):
    pass


def codex_settings(place, url, _key):
    place.write(".codex/config.toml", f"""model = "{MODEL}"
model_provider = "recorder"
check_for_update_on_startup = false # quiet

[analytics]
enabled = false

[model_providers.recorder]
name = "recorder"
base_url = "{url}"
wire_api = "responses"
env_key = "RECORDER_KEY"
""")


def gemini_settings(place, _url, _key):
    place.write(".gemini/settings.json", json.dumps({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }, indent=2) + "\n")


def qwen_settings(place, _url, _key):
    place.write(".qwen/settings.json", json.dumps({
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }, indent=2) + "\n")


def opencode_settings(place, url, key):
    provider = {
        "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": key}, "models": {MODEL: {"name": MODEL}},
    }
    place.write(".config/opencode/opencode.json", json.dumps({
        "$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled",
        "model": f"recorder/{MODEL}", "provider": {"recorder": provider},
    }, indent=2) + "\n")


def cline_settings(place, url, key):
    settings = {"provider": "openai-compatible", "apiKey": key, "model": MODEL, "baseUrl": url}
    entry = {"settings": settings, "updatedAt": "2026-11-17T00:00:00.000Z", "tokenSource": "manual"}
    place.write(".cline/data/settings/providers.json", json.dumps({
        "version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": entry},
    }, indent=2))
    place.write(".cline/data/settings/global-settings.json", '{"telemetryOptOut": true, "autoUpdateEnabled": false}')


def continue_settings(place, url, key):
    place.write(".continue/config.yaml", f"""name: mine
version: 1.0.0
schema: v1
models:
  - name: recorder # the only one
    provider: openai
    model: {MODEL}
    apiBase: {url}
    apiKey: {key}
    roles: [chat]
""")


HOSTS = [
    Host(
        name="claude-code", title="Claude Code", package="@anthropic-ai/claude-code",
        program="node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        settings=lambda place, _url, _key: place.write(".claude/settings.json", '{\n  "includeCoAuthoredBy": false\n}\n'),
        arguments=lambda prompt: ["-p", prompt, "--allowedTools", "mcp__everlore"],
        environment=lambda url, key: {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        },
        ways=("hooks", "proxy"), base="", proxy_base="/anthropic", provider="anthropic",
    ),
    Host(
        name="codex", title="Codex", package="@openai/codex", program="node_modules/.bin/codex",
        settings=codex_settings,
        arguments=lambda prompt: [
            "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-c", 'approval_policy="never"', prompt,
        ],
        environment=lambda _url, key: {"RECORDER_KEY": key},
        ways=("hooks", "proxy"),
        note="run with `--dangerously-bypass-hook-trust`; a person trusts the hooks once in `/hooks`",
    ),
    Host(
        name="gemini", title="Gemini CLI", package="@google/gemini-cli", program="node_modules/.bin/gemini",
        settings=gemini_settings,
        arguments=lambda prompt: ["--skip-trust", "-y", "-m", "gemini-2.5-flash", "-p", prompt],
        environment=lambda url, key: {"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_TELEMETRY_ENABLED": "false"},
        ways=("hooks",), base="",
        note="tools need `-y`, or `trust` in the settings",
    ),
    Host(
        name="opencode", title="OpenCode", package="opencode-ai", program="node_modules/opencode-linux-x64/bin/opencode",
        settings=opencode_settings,
        # It puts an argument with blanks into quotes of its own.
        arguments=lambda _prompt: ["run"], reads_input=True,
        dependency="@opencode-ai/plugin", dependency_folder=".config/opencode",
        environment=lambda _url, _key: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        ways=("plugin", "proxy"),
    ),
    Host(
        name="qwen-code", title="Qwen Code", package="@qwen-code/qwen-code", program="node_modules/.bin/qwen",
        settings=qwen_settings,
        arguments=lambda prompt: ["--auth-type", "openai", "-y", "-p", prompt],
        environment=lambda url, key: {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key, "OPENAI_MODEL": MODEL},
        ways=("hooks", "proxy"),
    ),
    Host(
        name="cline", title="Cline", package="cline", program="node_modules/.bin/cline",
        settings=cline_settings,
        arguments=lambda prompt: [prompt],
        environment=lambda _url, _key: {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"},
        ways=("mcp", "proxy"),
    ),
    Host(
        name="continue", title="Continue", package="@continuedev/cli", program="node_modules/.bin/cn",
        settings=continue_settings,
        arguments=lambda prompt: ["--auto", "-p", prompt],
        environment=lambda _url, _key: {"CONTINUE_TELEMETRY_ENABLED": "0"},
        ways=("mcp", "proxy"),
    ),
    Host(
        name="aider", title="aider", package="aider-chat", program="bin/aider", registry="PyPI",
        settings=lambda place, _url, _key: place.write(".aider.conf.yml", "# mine\ndark-mode: true\n"),
        arguments=lambda prompt: [
            "--no-git", "--yes-always", "--no-analytics", "--no-check-update", "--no-show-model-warnings", "--no-show-release-notes",
            "--no-browser", "--message", prompt,
        ],
        environment=lambda _url, key: {"OPENAI_API_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        ways=("proxy",), connects_proxy=True,
    ),
]
