/** Deploys the archives that infra/build.ts wrote: .build/archives/X-Y.zip for functions/X/Y.handler. */

module.exports = class Artifacts {
  constructor(serverless) {
    this.hooks = {
      'before:package:initialize': () => {
        for (const name of serverless.service.getAllFunctions()) {
          const target = serverless.service.getFunction(name)
          const path = target.handler.replace(/^functions\//, '').replace(/\.handler$/, '')
          target.package = { artifact: `.build/archives/${path.replaceAll('/', '-')}.zip` }
        }
      },
    }
  }
}
