/** Creates keys with hostile names and texts, as far as the API accepts them. */
import type { StartedServer } from '../../support/startedserver.ts'

/** Texts that a console must show without acting on them or breaking. */
export const HOSTILE = {
  markup: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  direction: 'gnp.\u202Eexe.\u2066invoice\u2069\u200F',
  invisible: 'admin\u200B\u00AD\uFEFF\u0007',
  lines: 'first\nsecond\r\n\tthird',
  emoji: '🔑'.repeat(60),
  long: 'w'.repeat(2000),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is text.
  template: '${7*7}{{7*7}}javascript:alert(1)',
} as const

/** Names of the longest length, and such as are members of every object. */
export const HOSTILE_NAMES = ['n'.repeat(253), `${'a.'.repeat(30)}z`, 'constructor', 'tostring']

/** Creates the keys and returns their names. */
export async function makeHostile(server: StartedServer): Promise<string[]> {
  const texts = Object.entries(HOSTILE).map(([kind, text]) => [`hostile-${kind}`, text] as const)
  const named = HOSTILE_NAMES.map((name) => [name, HOSTILE.markup] as const)
  for (const [name, text] of [...texts, ...named]) {
    const isPrintable = !/[\p{Cc}\p{Cf}]/u.test(text)
    const object = {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { name, annotations: { note: text } },
      spec: { displayName: text, description: text, user: isPrintable ? text.slice(0, 200) : 'alice', ttl: 86_400 },
    }
    const path = '/apis/management.platform/v1/ownedaccesskeys'
    const { status, text: answer } = await server.call(path, { method: 'POST', body: object })
    if (status !== 201) throw new Error(`${status} for ${name}: ${answer}`)
  }
  return [...texts, ...named].map(([name]) => name)
}
