/** Replays sequences that comparisons with kube-apiserver found (test/differential), without garbage collection. */
import { exceptions } from './exceptions.ts'
import { readScenarios } from './scenario.ts'
import { startSubject } from './subject.ts'
import { conformanceSuite } from './suite.ts'

conformanceSuite({
  title: 'this API',
  scenarios: await readScenarios('recorded'),
  exceptions,
  async start() {
    const { server, subject } = await startSubject({ collectsGarbage: false })
    return { subject, stop: server.stop }
  },
})
