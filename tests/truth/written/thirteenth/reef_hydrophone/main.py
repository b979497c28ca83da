from survey import Survey, recordings

survey = Survey()
for n, (tag, spec) in enumerate(recordings(12)):
    loss = survey.dive(tag, spec)
    print(f"dive {n:2d} {tag:6s} loss {loss:.4f} known {len(survey.catalogue)} frames {survey.heard}")
