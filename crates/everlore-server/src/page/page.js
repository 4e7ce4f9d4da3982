"use strict";

/** Makes an element that shows texts and other elements; texts are never read as markup. */
function make(tag, ...children) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

/** The fields of a schema as rows: name, type and what it is. */
function rows(schema, all) {
  const found = schema?.$ref ? all[schema.$ref.split("/").pop()] : schema;
  const table = make("table");
  for (const [name, field] of Object.entries(found?.properties ?? {})) {
    const needed = found.required?.includes(name) ? "needed" : "";
    const type = field.$ref?.split("/").pop() ?? [field.type ?? "any"].flat().join(" or ");
    table.append(make("tr", make("td", make("code", name)), make("td", type), make("td", needed), make("td", field.description ?? "")));
  }
  return table;
}

function curl(method, path, body) {
  const parts = ["curl", "-H \"Authorization: Bearer $(cat ~/.everlore/server.token)\""];
  if (method !== "get") parts.push(`-X ${method.toUpperCase()}`);
  if (body) parts.push("-H 'Content-Type: application/json' -d '{…}'");
  return [...parts, `'${location.origin}${path}'`].join(" ");
}

function route(method, path, operation, all) {
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const answer = Object.values(operation.responses)[0]?.content?.["application/json"]?.schema;
  const shown = make("details", make("summary", make("b", method.toUpperCase()), make("code", path), make("span", operation.summary ?? "")));
  if (operation.description) shown.append(make("p", operation.description));
  if (operation.parameters?.length) {
    const table = make("table");
    for (const one of operation.parameters) {
      table.append(make("tr", make("td", make("code", one.name)), make("td", one.in), make("td", one.description ?? "")));
    }
    shown.append(make("h4", "Parameters"), table);
  }
  if (body) shown.append(make("h4", "Body"), rows(body, all));
  if (answer) shown.append(make("h4", "Answer"), rows(answer, all));
  shown.append(make("pre", curl(method, path, operation.requestBody)));
  return shown;
}

async function show() {
  const place = document.getElementById("routes");
  const api = await (await fetch("/v1/openapi.json")).json();
  const groups = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const group = operation.tags?.[0] ?? "other";
      if (!groups.has(group)) groups.set(group, make("section", make("h2", group)));
      groups.get(group).append(route(method, path, operation, api.components?.schemas ?? {}));
    }
  }
  place.replaceChildren(...groups.values());
}

show().catch((error) => { document.getElementById("routes").textContent = `The description could not be read: ${error}`; });
