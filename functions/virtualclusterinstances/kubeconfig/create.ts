import { VirtualClusterInstanceKubeConfig } from '../../../lib/apis/management/v1/virtualclusterinstancekubeconfig.ts'
import { handler as serve } from '../../../lib/server/handler.ts'

export const handler = serve(VirtualClusterInstanceKubeConfig, 'create')
