/** kube-apiserver and etcd below one process: sends where they are, ends them when it is let go. */
import process from 'node:process'
import { startOracle } from '../differential/oracle.ts'

const { base, certificateAuthority, tokens, stop } = await startOracle(process.env.KUBEBUILDER_ASSETS ?? '')
process.once('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ base, certificateAuthority, token: tokens[''] })
