/** Provides the demo virtual cluster, and for each test a key of alice with a command line that has it. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type DemoCluster, startDemoCluster } from '../../support/democluster.ts'
import { accessKey, keys } from '../../support/objects.ts'
import { later, useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'

export function useAlice() {
  const server = useServer()
  let cluster: DemoCluster | undefined
  beforeAll(async () => {
    cluster = await startDemoCluster(server)
  })
  afterAll(() => cluster?.close())

  let made = 0
  const makeKey = async (): Promise<{ name: string; value: string }> => {
    const { metadata, spec } = await server.make(keys, accessKey(`cli-${++made}`, { user: 'alice' }))
    return { name: metadata.name, value: spec.key }
  }
  let key = { name: '', value: '' }
  let cli: CommandLine | undefined
  beforeEach(async () => {
    key = await makeKey()
    cli = await createCommandLine(server, key.value)
  })
  afterEach(() => cli?.stop())
  const headers = { 'content-type': 'application/merge-patch+json' }
  return {
    server,
    cluster: later(() => cluster),
    /** The key of the test. */
    key: later(() => key),
    cli: later(() => cli),
    /** Makes another key of alice. */
    makeKey,
    /** Changes the spec of the key of the test. */
    patchKey: (spec: object) => server.call(`${keys}/${key.name}`, { method: 'PATCH', body: { spec }, headers }),
    /** Returns the kinds of credentials that a key has been given, by the audit records. */
    issued: (name = key.name): string[] =>
      server.log
        .map((line) => JSON.parse(line))
        .filter((one) => one.message === 'audit' && one.key === name && one.code === 201 && one.credential)
        .map(({ credential }) => credential),
  }
}
