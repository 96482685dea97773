"""Loggers of plugins beside ctx.logger."""
import logging


def init_cloudify_logger(handler, logger_name, logging_level=logging.DEBUG):
    """The logger ctx.<name> with that handler alone. What it logs does not reach the operation's log but through `handler`."""
    logger = logging.getLogger('ctx.%s' % logger_name)
    logger.setLevel(logging_level)
    handler.setFormatter(logging.Formatter('%(message)s'))
    handler.setLevel(logging_level)
    logger.handlers = [handler]
    return logger
