/** Entries that are written into kube configs as people and programs write them: everything outside them stays as it is. */
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../clients/cli/src/kubeconfig/entries.ts'
import { withEntry } from '../../../clients/cli/src/kubeconfig/merge.ts'
import { splice } from '../../../clients/cli/src/kubeconfig/splice.ts'
import { parseYaml } from '../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { seed, soak } from '../../support/effort.ts'
import cases from './vectors/splice.cases.json' with { type: 'json' }

const entryAt = (path: string): Entry => ({
  name: 'new.p-demo',
  mark: { server: 'https://api.example.com', target: 'virtualCluster/demo/new' },
  cluster: { server: `https://new.example.com/${path}`, 'certificate-authority-data': 'LS0t' },
  user: {
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'keyplane', args: ['52:54', path], env: null },
  },
})

const read = async (text: string): Promise<JsonObject> => (await parseYaml(text)).value as JsonObject

interface Spliced {
  /** The text with a new entry, and the same with another content of the entry and as the current context. */
  texts: [string, string]
  configs: [JsonObject, JsonObject]
}

/** Adds an entry to a text, and changes it. */
async function spliced(text: string): Promise<Spliced> {
  const before = await read(text)
  const added = withEntry(before, entryAt('a'), 'new.p-demo')
  const first = await splice(text, before, added)
  const changed = { ...withEntry(added, entryAt('b'), 'new.p-demo'), 'current-context': 'new.p-demo' }
  return { texts: [first, await splice(first, added, changed)], configs: [added, changed] }
}

/** Reports whether a list has all elements of another one, in their order. */
function hasInOrder(whole: Iterable<string>, part: readonly string[]): boolean {
  let at = 0
  for (const one of whole) if (one === part[at]) at++
  return at === part.length
}

/** The parts of which the files are made. */
const LISTS: Record<string, string[]> = {
  clusters: [
    'clusters:\n- name: home\n  cluster: {server: "https://home.example.com"} # mine\n# the end\n',
    'clusters:\n\n    -   cluster:\n            server: https://home.example.com\n            tls-server-name:   "0123"\n\n        name: home\n\n',
    'clusters: [] # none\n',
    'clusters:\n',
  ],
  users: [
    "users:\n  - name: home\n    user:\n      exec: {command: x, args: [12:30, 0o17, yes, 1_0, '<<']}\n",
    'users:\n- &mine\n  name: home\n  user:\n    token: |\n      line\n\n- {name: other, user: {}}\n',
    '"users" : null\n',
    '',
  ],
  contexts: [
    'contexts:\n- context: {cluster: home, user: home}\n  name: home\n- name: away\n  context:\n',
    "contexts: [{name: home, context: {cluster: 'home'}}, # first\n  {name: away, },\n  ]\t# flow\n",
    'contexts: ~\n',
    'contexts: [\n  # nothing yet\n  ]\n',
  ],
}
const ENDS = ['current-context: home # now\n', '# end\n...\n---\nclusters: 5\n', "current-context: ''", '']
const BREAKS = ['\n', '\r\n', '\r']
const all = (LISTS.clusters ?? []).flatMap((clusters) =>
  (LISTS.users ?? []).flatMap((users) =>
    (LISTS.contexts ?? []).flatMap((contexts) =>
      ENDS.flatMap((end) =>
        BREAKS.map((lineBreak) => {
          const start = lineBreak === '\r\n' ? '\ufeff# mine\n' : '---\nkind: Config\n'
          return `${start}${clusters}${users}${contexts}${end}`.replaceAll('\n', lineBreak)
        }),
      ),
    ),
  ),
)

/** Among every fifth one are any three parts of different lists together. */
const files = all.filter((_, index) => soak || index % 5 === seed % 5)

describe('splice', () => {
  // threat: plugin-10
  test('adds an entry to files of all styles, changes it, and leaves all other bytes', async () => {
    expect(all.length).toBeGreaterThan(500)
    for (const file of files) {
      const { texts, configs } = await spliced(file)
      expect([await read(texts[0]), await read(texts[1])], file).toEqual(configs)
      expect(hasInOrder(texts[0], [...file.replaceAll(/: *(?:null|~|\[\])(?=[\s\r]|$)/g, ':')]), file).toBe(true)
      const linesOf = (text: string) => text.split(/\r\n|\r|\n/)
      const others = linesOf(file).filter((line) => !/: *(?:null|~|\[\])|^current|context|away/.test(line))
      expect(hasInOrder(linesOf(texts[1]), others), file).toBe(true)
      if (file.includes('\r\n')) expect(texts[1]).not.toMatch(/(?<!\r)\n/)
      const names = (configs[1].contexts as { name: string }[]).map(({ name }) => name)
      expect(names.at(-1)).toBe('new.p-demo')
    }
  })

  test.each(cases.exact as [string, string, string][])('writes %s', async (_, text, expected) =>
    expect((await spliced(text)).texts[1]).toBe(expected),
  )

  test.each(cases.refused as [string, string, string][])('refuses %s', async (_, text, why) =>
    expect(await spliced(text).catch((error: Error) => error.message)).toContain(why),
  )

  test('keeps JSON', async () => {
    for (const indent of [undefined, 2, '\t']) {
      const config = await read(files[0] ?? '')
      const file = JSON.stringify(config, null, indent)
      const { texts, configs } = await spliced(file)
      expect(texts.map((text) => JSON.parse(text))).toEqual(configs)
      expect(hasInOrder(texts[0], [...file])).toBe(true)
    }
  })
})
