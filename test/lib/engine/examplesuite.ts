/** Runs kubectl against the example of the engine, whatever it stores objects in. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKubectl, describeKubectl, type Kubectl } from '../../support/kubectl.ts'

const program = join(import.meta.dirname, '../../../lib/engine/example/serve.ts')

const lamp = (on: boolean) => ({
  apiVersion: 'example.test/v1',
  kind: 'Lamp',
  metadata: { name: 'desk' },
  spec: { on },
})
const note = { apiVersion: 'example.test/v1', kind: 'Note', metadata: { name: 'shopping' }, spec: { text: 'milk' } }

/** Defines the suite. `start` returns the environment of the example. */
export const testExample = (start: () => Promise<Record<string, string>>): void =>
  describeKubectl('the example of the engine answers kubectl', () => {
    let server: ChildProcess
    let kubectl: Kubectl
    beforeAll(async () => {
      const env = { ...process.env, ...(await start()) }
      server = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = await once(createInterface({ input: server.stdout ?? process.stdin }), 'line')
      const address = /http:\S+/.exec(line)?.[0]
      kubectl = await createKubectl({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'example',
        clusters: [{ name: 'example', cluster: { server: address } }],
        contexts: [{ name: 'example', context: { cluster: 'example', user: '' } }],
      })
    })
    afterAll(async () => {
      await kubectl.stop()
      server.kill()
    })

    /** Returns the output of a command that succeeds. */
    async function output(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await kubectl.run(...args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }

    test('for a kind with a status: create, get, apply, watch, delete', async () => {
      const on = await kubectl.file('on.json', lamp(true))
      const off = await kubectl.file('off.json', lamp(false))
      expect(await output('create', '--save-config', '-f', on)).toBe('lamp.example.test/desk created\n')
      expect(await output('get', 'lp')).toMatch(/^NAME +ON +AGE\ndesk +true /)
      const watch = kubectl.start('get', 'lamps', '--watch')
      await watch.until(/desk +true/)
      expect(await output('apply', '-f', off)).toBe('lamp.example.test/desk configured\n')
      await watch.until(/desk +false/)
      const report = ['patch', 'lamp', 'desk', '--type=merge', '--subresource=status', '-p', '{"status":{"lit":true}}']
      expect(await output(...report)).toBe('lamp.example.test/desk patched\n')
      await watch.until(/(desk +false .*\n){2}/)
      await watch.end()
      const { stderr } = await kubectl.run(
        'patch',
        'lamp',
        'desk',
        '--type=merge',
        '-p',
        '{"metadata":{"labels":{"a":"b"}}}',
      )
      expect(stderr).toBe('Warning: the lamp has not followed its switch yet\n')
      expect(await output('delete', 'lamp', 'desk')).toContain('"desk" deleted')
      expect(await output('get', 'lamps', '-o', 'name')).toBe('')
    })

    test('from its OpenAPI documents: explain, and validation before a create', async () => {
      expect(await output('explain', 'lamps.spec.on')).toContain('The position of the switch.')
      expect(await output('explain', 'notes')).toContain('A text in a namespace.')
      const typo = await kubectl.file('typo.json', { ...lamp(true), spec: { onn: true } })
      expect((await kubectl.run('create', '-f', typo)).stderr).toContain('unknown field "spec.onn"')
    })

    test('for a kind in namespaces: apply, list, delete', async () => {
      const file = await kubectl.file('note.json', note)
      const apply = ['apply', '--server-side', '-f', file]
      expect(await output(...apply, '-n', 'home')).toBe('note.example.test/shopping serverside-applied\n')
      expect(await output('get', 'notes', '-A', '--field-selector=spec.text=milk')).toMatch(/home +shopping +milk /)
      expect((await kubectl.run('get', 'note', 'shopping', '-n', 'work')).stderr).toContain('(NotFound)')
      expect(await output('delete', 'notes', '--all', '-n', 'home')).toContain('"shopping" deleted')
    })
  })
