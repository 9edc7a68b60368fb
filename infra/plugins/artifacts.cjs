/** The archive of a function is what infra/build.ts made of its handler's file: functions/X/Y.handler is .build/archives/X-Y.zip. */

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
