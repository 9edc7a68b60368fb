/** Runs kube-apiserver and etcd below one process: sends their address, and stops them when its parent disconnects. */
import process from 'node:process'
import { startOracle } from '../differential/oracle.ts'

const { base, certificateAuthority, tokens, stop } = await startOracle(process.env.KUBEBUILDER_ASSETS ?? '')
process.once('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ base, certificateAuthority, token: tokens[''] })
