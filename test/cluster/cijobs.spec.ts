/** Tests the steps for CI jobs on a real kube-apiserver: kubectl works with their kube configs, and is refused after the job. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Runner, startRunner } from '../clients/action/runner.ts'
import { createKubectl } from '../support/kubectl.ts'
import { type StartedServer, startedServer } from '../support/startedserver.ts'

let server: StartedServer
let runner: Runner
beforeAll(async () => {
  server = await startedServer({ KUBEBUILDER_ASSETS: process.env.KUBEBUILDER_ASSETS ?? '' })
  runner = await startRunner()
})
afterAll(async () => {
  await runner?.stop()
  await server?.stop()
})

test.each(['false', 'true'])('a job of GitHub uses the cluster with renew: %s, until it ends', async (renew) => {
  const inputs = { url: server.url, credential: server.credential, 'virtual-cluster': 'demo/demo', renew }
  const step = await runner.step(
    { ...inputs, 'certificate-authority': server.authorityFile },
    { ...server.idTokenVariables },
  )
  // kubectl runs the plugin that is beside the bundle.
  const { code, errors, variables } = await (await step.begin('main')).ended
  expect([code, errors]).toEqual([0, []])
  const kubectl = await createKubectl(await readFile(variables.KUBECONFIG ?? '', 'utf8'))
  const whoami = () =>
    kubectl.runWith(server.idTokenVariables, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
  expect(await whoami()).toEqual({ code: 0, stdout: 'alice', stderr: '' })
  expect(await (await step.begin('post')).ended).toMatchObject({ code: 0, warnings: [] })
  // The cluster asks this API, and keeps the answer for 30 seconds.
  await expect.poll(whoami, { interval: 1000 }).toMatchObject({ code: 1 })
  await kubectl.stop()
})
