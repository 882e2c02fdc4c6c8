"""Other systems that run recursive models, measured beside this one."""
